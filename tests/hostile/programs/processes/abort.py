# ends: error 132 or error 134 or error 139
import os

os.abort()
