package main

import (
	"context"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/cache"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/engine"
	gitops "github.com/argoproj/argo-cd/gitops-engine/pkg/sync"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What Argo CD knows its objects by.
const trackedBy = "argocd.argoproj.io/tracking-id"

// What has no namespace of its own goes here.
const namespace = "nodevolume-system"

type result struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

// sync is an automated sync of an Application with pruning.
func sync(ctx context.Context, r request) (any, error) {
	config, err := r.config()
	if err != nil {
		return nil, err
	}
	for _, object := range r.Resources {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[trackedBy] = r.Application
		object.SetAnnotations(annotations)
	}
	tracked := func(object *unstructured.Unstructured, _ bool) (any, bool) {
		application := object.GetAnnotations()[trackedBy]
		return application, application != ""
	}
	live := cache.NewClusterCache(config, cache.SetPopulateResourceInfoHandler(tracked))
	argo := engine.NewEngine(config, live)
	stop, err := argo.Run()
	if err != nil {
		return nil, err
	}
	defer stop()
	isOurs := func(resource *cache.Resource) bool { return resource.Info == r.Application }
	synced, err := argo.Sync(ctx, r.Resources, isOurs, "revision", namespace,
		gitops.WithPrune(true),
		gitops.WithHealthOverride(r.HealthLua),
		gitops.WithServerSideApply(r.ServerSideApply),
		gitops.WithServerSideApplyManager(manager),
	)
	if err != nil {
		return nil, err
	}
	results := make([]result, len(synced))
	for i, one := range synced {
		results[i] = result{one.ResourceKey.Kind, one.ResourceKey.Name, string(one.Status), one.Message}
	}
	return results, nil
}
