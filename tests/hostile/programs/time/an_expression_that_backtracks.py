# flags: --timeout 1
# ends: timeout
import re

re.match(r"(a+)+$", "a" * 64 + "b")
