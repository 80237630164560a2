package main

import (
	"context"
	"encoding/json"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"k8s.io/klog/v2/textlogger"
)

// As Argo CD calls itself.
const manager = "argocd-controller"

type difference struct {
	Modified  bool            `json:"modified"`
	Live      json.RawMessage `json:"live"`
	Predicted json.RawMessage `json:"predicted"`
}

func kubectl() *kube.KubectlCmd {
	return &kube.KubectlCmd{Log: textlogger.NewLogger(textlogger.NewConfig()), Tracer: tracing.NopTracer{}}
}

func diffOf(_ context.Context, r request) (any, error) {
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	_, parser, err := kubectl().LoadOpenAPISchema(config)
	if err != nil {
		return nil, err
	}
	// As Argo CD sets them for an Application.
	options := []diff.Option{
		diff.IgnoreAggregatedRoles(false),
		diff.WithManager(manager),
		diff.WithGVKParser(parser),
		diff.WithStructuredMergeDiff(r.ServerSideApply),
	}
	answers := make([]difference, len(r.Resources))
	for i := range r.Resources {
		result, err := diff.Diff(r.Resources[i], r.Live[i], options...)
		if err != nil {
			return nil, err
		}
		answers[i] = difference{result.Modified, result.NormalizedLive, result.PredictedLive}
	}
	return answers, nil
}
