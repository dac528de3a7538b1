/**
 * Keeps an APIService for each served version of a group of custom resources (kube-apiserver's CRD registration
 * controller). Key: the group.
 */
import type { APIService } from '../../api/apiregistration/v1.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import { DEFINITIONS, versionsOf } from '../../registry/custom-resources/definition.ts'
import { CUSTOM_GROUP_PRIORITY, CUSTOM_VERSION_PRIORITY } from '../../registry/served/resources.ts'
import type { KubeObject } from '../../api/object.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { serverClients } from '../client/clientset.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import type { Controller } from '../controller.ts'
import { createUnlessThere, deleteIfThere } from '../work/unless-gone.ts'

const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' }
const AUTOMANAGED = 'kube-aggregator.kubernetes.io/automanaged'

export const crdApiServicesController: Controller = {
  neverGivesUp: true,
  async reconcile(group, context) {
    const snapshot = await freshControlSnapshot(context)
    const served = new Set(
      snapshot
        .inGroup<KubeObject & CustomResourceDefinition>(DEFINITIONS, group)
        .flatMap((definition) => versionsOf(definition).flatMap(({ served, name }) => (served && name ? [name] : []))),
    )
    const client = serverClients(context).resource(API_SERVICES)
    const present = snapshot
      .inGroup<KubeObject & APIService>(API_SERVICES, group)
      .filter(({ metadata }) => metadata.labels?.[AUTOMANAGED] === 'true')
    const registered = new Set(present.map(({ spec }) => spec?.version))
    for (const version of served) if (!registered.has(version)) await register(client, group, version)
    for (const service of present) if (!served.has(service.spec?.version ?? '')) await deleteIfThere(client, service)
    return undefined
  },
}

/** Creates an APIService. Its strategy makes it available at once, like any local APIService. */
async function register(client: ResourceClient, group: string, version: string): Promise<void> {
  const name = `${version}.${group}`
  const service: APIService = {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name, labels: { [AUTOMANAGED]: 'true' } },
    spec: {
      group,
      version,
      groupPriorityMinimum: CUSTOM_GROUP_PRIORITY,
      versionPriority: CUSTOM_VERSION_PRIORITY,
    },
  }
  await createUnlessThere(client, service)
}
