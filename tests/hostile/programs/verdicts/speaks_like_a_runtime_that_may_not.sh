# ends: error 126
echo 'docker: Error response from daemon: OCI runtime create failed: exec: "python": permission denied: unknown' >&2
exit 126
