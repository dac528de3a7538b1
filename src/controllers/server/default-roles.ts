/**
 * Gives the default roles of an existing control plane the rules of a new release or of other feature gates, as
 * kube-apiserver does at its start. Rules that an administrator added stay. A role whose annotation forbids it stays as
 * it is, and the aggregation controller writes the rules of aggregated roles.
 */
import type { KubeObject } from '../../api/object.ts'
import type { PolicyRule } from '../../api/rbac/v1.ts'
import { missingParts } from '../../authorization/rule-coverage.ts'
import { inTurns } from '../../base/slices.ts'
import type { Unwritten } from '../../bootstrap/ensure-bootstrapped.ts'
import { policyObjects } from '../../bootstrap/policy-objects.ts'
import { timeText } from '../../schema/time.ts'
import { settingsOf } from '../../settings.ts'
import type { ControlSnapshot } from '../../tenancy/control-snapshot.ts'
import { serverClients } from '../client/clientset.ts'
import type { ControllerContext } from '../controller.ts'

const GROUP = 'rbac.authorization.k8s.io'
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

interface Role extends KubeObject {
  rules?: PolicyRule[]
  aggregationRule?: object
}

/** @param only the key of the one role to write; undefined: all @returns errors */
export async function completeRoles(
  context: ControllerContext,
  snapshot: ControlSnapshot,
  only?: string,
): Promise<Unwritten[]> {
  const unwritten: Unwritten[] = []
  for (const { resource, object } of await policyObjects(timeText(context.now()), settingsOf(context.env).gates)) {
    const wanted: Role = object
    if (wanted.rules === undefined) continue
    const { namespace, name } = wanted.metadata
    const path = namespace === undefined ? (name ?? '') : `${namespace}/${name}`
    const key = `${resource}.${GROUP}/${path}`
    const role = snapshot.get<Role>({ group: GROUP, resource }, path)
    if ((only !== undefined && only !== key) || role === undefined || isKept(role, wanted)) continue
    const missing = await inTurns(missingParts(role.rules ?? [], wanted.rules))
    if (missing.length === 0) continue
    const client = serverClients(context).resource({ group: GROUP, resource })
    await client
      .updateWithRetries(role, (live: Role) => {
        if (!isKept(live, wanted)) live.rules = [...(live.rules ?? []), ...missing]
      })
      .catch((why: unknown) => unwritten.push({ key, why }))
  }
  return unwritten
}

const isKept = ({ metadata }: Role, { aggregationRule }: Role): boolean =>
  aggregationRule !== undefined || metadata.annotations?.[AUTOUPDATE] === 'false'
