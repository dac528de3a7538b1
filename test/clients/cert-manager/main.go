// cert-manager's webhook and those of its controllers that a self-signed certificate needs. Its own two programs are no
// packages that another module can require, so this one starts what they start. The name of this module lies below
// cert-manager's: only from there can its internal packages be imported, which the programs' own modules do, too.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	ctrl "sigs.k8s.io/controller-runtime"

	cmwebhook "github.com/cert-manager/cert-manager/internal/webhook"
	"github.com/cert-manager/cert-manager/pkg/controller"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	_ "github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	_ "github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"github.com/cert-manager/cert-manager/pkg/webhook/options"
)

const workers = 2

func main() {
	logf.InitLogs()
	defer logf.FlushLogs()
	ctrl.SetLogger(logf.Log)
	ctx, stop := signal.NotifyContext(logf.NewContext(context.Background(), logf.Log), os.Interrupt)
	defer stop()
	programs := map[string]func(context.Context, []string) error{"webhook": webhook, "controller": controllers}
	if err := programs[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func webhook(ctx context.Context, args []string) error {
	config, err := options.NewWebhookConfiguration()
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("webhook", pflag.ExitOnError)
	options.AddConfigFlags(flags, config)
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := cmwebhook.NewCertManagerWebhookServer(logf.FromContext(ctx), *config)
	if err != nil {
		return err
	}
	return server.Run(ctx)
}

func controllers(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("controller", pflag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig: *kubeconfig,
		ACMEOptions: controller.ACMEOptions{
			HTTP01SolverResourceRequestCPU:    resource.MustParse("10m"),
			HTTP01SolverResourceRequestMemory: resource.MustParse("64Mi"),
			HTTP01SolverResourceLimitsCPU:     resource.MustParse("100m"),
			HTTP01SolverResourceLimitsMemory:  resource.MustParse("64Mi"),
		},
		IssuerOptions: controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	base, err := factory.Build()
	if err != nil {
		return err
	}
	ended := make(chan error)
	for name, make := range controller.Known() {
		run, err := make(factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		go func() { ended <- run.Run(workers, ctx) }()
	}
	base.SharedInformerFactory.Start(ctx.Done())
	base.KubeSharedInformerFactory.Start(ctx.Done())
	base.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	return <-ended
}
