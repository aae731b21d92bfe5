# ends: error 127
echo 'docker: Error response from daemon: OCI runtime create failed: exec: "python": executable file not found in $PATH: unknown' >&2
exit 127
