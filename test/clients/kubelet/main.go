// A kubelet without a container runtime, which speaks SPDY alone, as kubelets before 1.36 do for kubectl: its streams are
// those of Kubernetes' own library. It prints its port, and a line for each request.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const timeout = time.Minute

type containers struct{}

func (containers) ExecInContainer(_ context.Context, _, _, _ string, command []string, in io.Reader, out, err io.WriteCloser, _ bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	switch command[0] {
	case "cat":
		_, problem := io.Copy(out, in)
		return problem
	case "both":
		fmt.Fprintln(out, "to stdout")
		fmt.Fprintln(err, "to stderr")
		return nil
	case "large":
		_, problem := out.Write([]byte(strings.Repeat("0123456789abcdef", 1<<18)))
		return problem
	case "size":
		size := <-resize
		fmt.Fprintf(out, "%d x %d\n", size.Width, size.Height)
		return nil
	case "exit":
		return utilexec.CodeExitError{Err: errors.New("exit 3"), Code: 3}
	}
	return fmt.Errorf("no such command: %s", command[0])
}

func (containers) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	fmt.Fprintln(out, "attached")
	if in == nil {
		return nil
	}
	_, problem := io.Copy(out, in)
	return problem
}

func (containers) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	fmt.Fprintf(stream, "port %d: ", port)
	_, problem := io.Copy(stream, stream)
	return problem
}

func serve(w http.ResponseWriter, req *http.Request) {
	upgrade := req.Header.Get("Upgrade")
	protocols := strings.Join(req.Header["X-Stream-Protocol-Version"], ",")
	fmt.Println(req.Method, req.URL.RequestURI(), upgrade, protocols)
	if strings.EqualFold(upgrade, "websocket") {
		http.Error(w, "this kubelet speaks no WebSocket", http.StatusBadRequest)
		return
	}
	parts := strings.Split(req.URL.Path, "/")
	if parts[1] == "portForward" {
		portforward.ServePortForward(w, req, containers{}, parts[3], "", nil, timeout, timeout, []string{portforward.ProtocolV1Name})
		return
	}
	options, err := remotecommand.NewOptions(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	supported := []string{remotecommand.StreamProtocolV4Name, remotecommand.StreamProtocolV3Name}
	if parts[1] == "attach" {
		remotecommand.ServeAttach(w, req, containers{}, parts[3], "", parts[4], options, timeout, timeout, supported)
		return
	}
	remotecommand.ServeExec(w, req, containers{}, parts[3], "", parts[4], req.URL.Query()["command"], options, timeout, timeout, supported)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.ServeTLS(listener, http.HandlerFunc(serve), os.Args[1], os.Args[2]))
}
