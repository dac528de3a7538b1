/**
 * Keeps an APIService for each served version of a group of custom resources (kube-apiserver's CRD registration
 * controller, and the part of its autoregister controller that never rests). Key: the group.
 */
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { GroupResource } from '../../api/group-version.ts'
import type { KubeObject } from '../../api/object.ts'
import type { StoredApiService } from '../../registry/apiregistration/managed-api-services.ts'
import {
  definitionApiService,
  hasSpecOf,
  isAlwaysManaged,
} from '../../registry/apiregistration/managed-api-services.ts'
import { DEFINITIONS, servedVersionsOf } from '../../registry/custom-resources/definition.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { freshControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { serverClients } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { createUnlessThere, deleteIfThere, unlessGone } from '../work/unless-gone.ts'

const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' }

type Definition = KubeObject & CustomResourceDefinition

export const crdApiServicesController: Controller = {
  neverGivesUp: true,
  async reconcile(group, context) {
    const snapshot = await freshControlSnapshot(context)
    const served = servedVersionsOf(snapshot.inGroup<Definition>(DEFINITIONS, group))
    const present = new Map(
      snapshot.inGroup<StoredApiService>(API_SERVICES, group).map((service) => [service.spec?.version ?? '', service]),
    )
    const client = serverClients(context).resource<StoredApiService>(API_SERVICES)
    for (const version of served) {
      const [live, wanted] = [present.get(version), definitionApiService(group, version)]
      if (live === undefined) await createUnlessThere(client, wanted)
      else if (isAlwaysManaged(live) && !hasSpecOf(live, wanted))
        await client
          .updateWithRetries(live, (current) => {
            if (isAlwaysManaged(current) && wanted.spec !== undefined) current.spec = structuredClone(wanted.spec)
          })
          .catch((error: unknown) => unlessGone(client, live, error))
    }
    const own = new Set(
      builtInServed(context.env)
        .resources.inGroup(group)
        .map(({ version }) => version),
    )
    for (const [version, service] of present)
      if (isAlwaysManaged(service) && !served.has(version) && !own.has(version)) await deleteIfThere(client, service)
    return undefined
  },
}
