# ends: error 143
exit 143
