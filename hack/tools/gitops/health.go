package main

import (
	"context"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/health"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type opinions struct {
	// Null: Argo CD has none.
	Health *health.HealthStatus `json:"health"`
	// By the library that Flux waits with.
	Kstatus string `json:"kstatus"`
}

func healthOf(_ context.Context, r request) (any, error) {
	answers := make([]opinions, len(r.Resources))
	for i, object := range r.Resources {
		found, err := health.GetResourceHealth(object, r.HealthLua)
		if err != nil {
			return nil, err
		}
		computed, err := status.Compute(object)
		if err != nil {
			return nil, err
		}
		answers[i] = opinions{found, computed.Status.String()}
	}
	return answers, nil
}
