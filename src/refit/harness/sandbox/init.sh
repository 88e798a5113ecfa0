#!/bin/sh
# First process of a sandbox, in its new namespaces: builds the root that the sandbox sees, moves into it, and stays.
#
#   init.sh STATE MODE NETWORK WORD…     MODE root | rootless, NETWORK host | none
#   tree:PATH  the host's folder shows, what is written over it stays here
#   part:PATH  the same for a file system mounted within one, if it can be
#   link:PATH  a link of the host's is made again
#   hide:PATH  a folder shows empty, a file is gone
#
# Prints `PID STORE`: its process id as the host counts, and where what is written goes. Then it is `cat`, which says back
# what it is told: that is how whoever started it knows that all is done. It ends when its standard input does, which is
# when whoever started it is gone; with it ends everything in the sandbox.
set -eu
stage=start
trap 'echo "stage: $stage" >&2' EXIT
state=$1 mode=$2 network=$3
shift 3
umask 022
# Before /proc is mounted anew it is the host's, so this is the number that nsenter needs.
read -r pid _ </proc/self/stat

case $mode in rootless) xattr=,userxattr ;; *) xattr= ;; esac

overlay() { # overlay LOWER NAME TARGET
    mkdir -p "layers/$2/upper" "layers/$2/work" "$3"
    mount -t overlay overlay -o "lowerdir=$1,upperdir=layers/$2/upper,workdir=layers/$2/work$xattr" "$3"
}

probe() {
    mkdir -p probe && overlay /etc probe probe && umount probe && rm -rf probe
}

hide() { # hide PATH
    if [ -d "root$1" ]; then
        mount -t tmpfs -o mode=755 tmpfs "root$1"
    elif [ -e "root$1" ]; then
        # Where the file is not ours to remove, an empty one that nobody may read or run lies over it.
        rm -f "root$1" 2>/dev/null || mount --bind "$state/empty" "root$1"
    fi
}

replace() { # replace PATH, with standard input
    copy="$state/$(basename "$1")"
    cat >"$copy"
    cat "$copy" 2>/dev/null >"root$1" || mount --bind "$copy" "root$1" || :
}

stage=propagation
mount --make-rprivate /

stage=overlay
mkdir -p "$state/space"
: >"$state/empty"
chmod 000 "$state/empty"
cd "$state/space"
store=disk
# Some file systems, overlayfs among them, cannot take what is written over an overlay: then memory does.
if ! probe 2>"$state/probe.log"; then
    store=memory
    mount -t tmpfs -o mode=755 tmpfs "$state/space"
    cd "$state/space"
    cat "$state/probe.log" >&2
    probe
fi

stage=tree
mkdir -p root
mount --bind root root
cd .
layer=0
for word; do
    path=${word#*:}
    case $word in
    tree:*)
        layer=$((layer + 1))
        overlay "$path" "$layer" "root$path"
        ;;
    part:*)
        layer=$((layer + 1))
        overlay "$path" "$layer" "root$path" || echo "$path does not show" >&2
        ;;
    link:*) ln -s "$(readlink "$path")" "root$path" ;;
    esac
done
mkdir -p root/proc root/sys root/dev root/run/lock root/root root/home root/mnt root/media root/srv root/opt root/tmp \
    root/var/tmp root/var/log root/var/lib/misc root/var/cache root/var/spool root/var/mail root/var/opt root/var/local
chmod 700 root/root
chmod 1777 root/tmp root/var/tmp root/run/lock
[ -e root/var/run ] || ln -s /run root/var/run
[ -e root/var/lock ] || ln -s /run/lock root/var/lock

stage=hide
for word; do
    case $word in hide:*) hide "${word#*:}" ;; esac
done
for file in shadow gshadow; do
    if [ -r "/etc/$file" ]; then sed 's/^\([^:]*\):[^:]*/\1:*/' "/etc/$file" | replace "/etc/$file"; fi
done

stage=names
hostname sandbox 2>/dev/null || echo sandbox >/proc/sys/kernel/hostname 2>/dev/null || :
echo sandbox | replace /etc/hostname
{ cat /etc/hosts 2>/dev/null || echo 127.0.0.1 localhost; echo 127.0.1.1 sandbox; } | replace /etc/hosts
resolver=$(readlink -f /etc/resolv.conf 2>/dev/null || :)
# It may be a link to where nothing shows, or in a container a mount of its own.
if [ -r "$resolver" ]; then
    mkdir -p "root$(dirname "$resolver")"
    [ -e "root$resolver" ] || : >"root$resolver"
    cmp -s "$resolver" "root$resolver" || replace "$resolver" <"$resolver"
fi

stage=proc
mount -t proc -o nosuid,nodev,noexec proc root/proc

stage=network
if [ "$network" = none ]; then
    ip link set lo up 2>/dev/null || ifconfig lo up
    # The agent's root has no capabilities over this network; servers on port 80 are nevertheless its business.
    echo 0 >root/proc/sys/net/ipv4/ip_unprivileged_port_start
fi

stage=sysctl
# What root could do to the whole machine.
for file in sys sysrq-trigger irq bus; do
    if [ -e "root/proc/$file" ]; then
        mount --bind "root/proc/$file" "root/proc/$file"
        mount -o remount,bind,ro "root/proc/$file"
    fi
done
mount --bind /dev/null root/proc/kcore 2>/dev/null || :
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs root/sys 2>/dev/null || :

stage=dev
mount -t tmpfs -o mode=755,nosuid tmpfs root/dev
mkdir root/dev/pts root/dev/shm
for node in null zero full random urandom tty; do
    : >"root/dev/$node"
    mount --bind "/dev/$node" "root/dev/$node"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
ln -s fd/0 root/dev/stdin
ln -s fd/1 root/dev/stdout
ln -s fd/2 root/dev/stderr
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs root/dev/shm

stage=pivot
cd root
mkdir .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old

echo "$pid $store"
# In a user namespace within, root can neither take mounts away nor make those of devices, and a new /proc is refused
# because parts of this one are read-only.
stage=user
trap - EXIT
case $mode in rootless) map=--map-root-user ;; *) map= ;; esac # For root, our starter writes the map.
# Orphans end up with `cat`. Whoever ignores SIGCHLD need not collect them; some shells cannot pass that on.
if env --ignore-signal=CHLD true 2>/dev/null; then ignore=--ignore-signal=CHLD; else ignore= && trap '' CHLD; fi
exec unshare --user --mount $map sh -c 'exec "$@" 2>/dev/null' sh env -i $ignore PATH="$PATH" cat
