/**
 * The spec of a ControlPlane (kedge.dev/v1alpha1): its controllers, named like the flags of `kedge start`. At present
 * only the root control plane exists, as the object `root`.
 */
import type { FieldError } from '../api/field.ts'
import { forbiddenField as forbidden, invalidValue, notSupported, path, required } from '../api/field.ts'
import type { Json, KubeObject } from '../api/object.ts'
import { isJsonObject } from '../api/object.ts'
import { parseControllers } from '../configuration/controllers.ts'
import type { WorkloadSwitches } from '../settings.ts'
import { workloadModes } from '../settings/schema.ts'

export const CONTROL_PLANES = { group: 'kedge.dev', resource: 'controlplanes' } as const
/** The name of the only ControlPlane. */
export const ROOT = 'root'
/** Each simulated node has its range of addresses, and there are this many ranges. */
export const MOST_NODES = 256

export interface ControlPlaneSpec extends WorkloadSwitches {
  /** The number of simulated nodes; missing ones are created. */
  readonly nodes: number
}

/** The parsed spec, or all its errors. */
export function readControlPlane(
  object: KubeObject & { readonly spec?: Json },
): { readonly spec: ControlPlaneSpec } | { readonly errors: readonly FieldError[] } {
  const at = path('spec')
  const {
    workloads: mode,
    controllers: names = '*',
    nodes = 0,
    ...others
  } = isJsonObject(object.spec) ? object.spec : {}
  const errors: FieldError[] = Object.keys(others).map((name) => forbidden(at.child(name), 'is not supported'))
  const workloads = workloadModes.find((known) => known === mode)
  if (mode === undefined) errors.push(required(at.child('workloads')))
  else if (workloads === undefined) errors.push(notSupported(at.child('workloads'), mode, workloadModes))
  const isCount = typeof nodes === 'number' && Number.isInteger(nodes) && nodes >= 0 && nodes <= MOST_NODES
  if (!isCount) errors.push(invalidValue(at.child('nodes'), nodes, `must be a whole number from 0 to ${MOST_NODES}`))
  else if (nodes > 0 && workloads !== 'simulated')
    errors.push(forbidden(at.child('nodes'), 'is for workloads: simulated'))
  try {
    const controllers = parseControllers(String(names))
    if (workloads === 'off' && controllers.isOfWorkloads)
      errors.push(forbidden(at.child('controllers'), 'may not be set where workloads are off'))
    if (errors.length === 0 && workloads !== undefined && isCount) return { spec: { workloads, controllers, nodes } }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    errors.push(invalidValue(at.child('controllers'), names, error.message))
  }
  return { errors }
}
