# ends: error 139
import ctypes

ctypes.string_at(0)
