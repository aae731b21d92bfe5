# ends: error 125
echo 'docker: Error response from daemon: failed to create task for container: OCI runtime create failed' >&2
echo "See 'docker run --help'." >&2
exit 125
