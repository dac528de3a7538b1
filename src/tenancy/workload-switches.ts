/**
 * The workload controllers that a control plane runs: those of its ControlPlane object, else those of the server's
 * settings. The answer is as old as this isolate's snapshot, which a request and each round of controllers updates
 * first.
 */
import type { KubeObject } from '../api/object.ts'
import { parseControllers } from '../configuration/controllers.ts'
import type { Env } from '../env.ts'
import { logError } from '../log/log.ts'
import type { WorkloadSwitches } from '../settings.ts'
import { settingsOf } from '../settings.ts'
import type { Tenant } from '../storage/tenant.ts'
import type { ControlPlaneSpec } from './control-plane-spec.ts'
import { CONTROL_PLANES, readControlPlane, ROOT } from './control-plane-spec.ts'
import { lastSnapshot } from './control-snapshot.ts'
import type { ControlSnapshot } from './control-snapshot.ts'

/** Each version of the object is read once. */
const specs = new WeakMap<KubeObject, ControlPlaneSpec>()

/** Undefined where there is no such object. An invalid object, as after a restore, switches every controller off. */
export function controlPlaneSpec(snapshot: ControlSnapshot | undefined): ControlPlaneSpec | undefined {
  const object = snapshot?.get(CONTROL_PLANES, ROOT)
  if (object === undefined) return undefined
  let spec = specs.get(object)
  if (spec === undefined) specs.set(object, (spec = specOf(object)))
  return spec
}

function specOf(object: KubeObject): ControlPlaneSpec {
  const read = readControlPlane(object)
  if ('spec' in read) return read.spec
  const error = read.errors.map(({ field, message }) => `${field}: ${message}`).join('; ')
  logError('a control plane has no workload controllers, for its spec is wrong', { error })
  return { workloads: 'off', controllers: parseControllers('*'), nodes: 0 }
}

export const switchesAt = (env: Env, snapshot: ControlSnapshot | undefined): WorkloadSwitches =>
  controlPlaneSpec(snapshot) ?? settingsOf(env)

export const switchesOf = ({ env, tenant }: { readonly env: Env; readonly tenant: Tenant }): WorkloadSwitches =>
  switchesAt(env, lastSnapshot(tenant))
