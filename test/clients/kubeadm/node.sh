#!/bin/sh
# A machine of its own for kubeadm and kubelet, as far as they write to it: run in a mount namespace of its own
# (unshare --mount). What is written to /etc, /var and the kernel's settings goes to a directory in memory.
# Usage: node.sh EMPTY-DIRECTORY
set -e
mount -t tmpfs tmpfs "$1"
for directory in etc var; do
  mkdir -p "$1/$directory" "$1/$directory.work"
  mount -t overlay overlay -o "lowerdir=/$directory,upperdir=$1/$directory,workdir=$1/$directory.work" "/$directory"
done
mkdir -p /etc/kubernetes /var/lib/kubelet
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  mkdir -p "$1/sys/$(dirname "$setting")"
  cat "/proc/sys/$setting" >"$1/sys/$setting"
  mount --bind "$1/sys/$setting" "/proc/sys/$setting"
done
echo ready
exec sleep infinity
