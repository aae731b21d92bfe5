# ends: error 1
# -*- coding: no-such-encoding -*-
print("x")
