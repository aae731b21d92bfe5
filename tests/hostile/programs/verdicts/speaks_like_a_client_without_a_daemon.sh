# ends: error 125
echo 'docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?.' >&2
exit 125
