// An aggregated API server: Kubernetes' own sample with an etcd in the same process.
package main

import (
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	"k8s.io/sample-apiserver/pkg/cmd/server"
)

func main() {
	etcd, err := startEtcd(os.Getenv("ETCD_DIRECTORY"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer etcd.Close()
	endpoint := "http://" + etcd.Clients[0].Addr().String()
	options := server.NewWardleServerOptions(os.Stdout, os.Stderr)
	options.RecommendedOptions.Etcd.StorageConfig.Transport.ServerList = []string{endpoint}
	command := server.NewCommandStartWardleServer(genericapiserver.SetupSignalContext(), options, false)
	os.Exit(cli.Run(command))
}

func startEtcd(directory string) (*embed.Etcd, error) {
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Dir = directory
	config.LogLevel = "error"
	config.ListenClientUrls = []url.URL{anyPort}
	config.ListenPeerUrls = []url.URL{anyPort}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	<-etcd.Server.ReadyNotify()
	return etcd, nil
}
