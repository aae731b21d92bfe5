# ends: success
print("a\u2028b\u2029c\u0085d\u202ee\u2066f\ufeffg\0h")
