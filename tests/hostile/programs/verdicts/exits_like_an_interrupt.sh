# ends: error 130
exit 130
