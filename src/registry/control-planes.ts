/**
 * ControlPlanes are custom resources. The server refuses invalid ones, and a changed spec is work for their controller.
 */
import type { FieldError } from '../api/field.ts'
import { forbiddenField, path } from '../api/field.ts'
import type { GroupResource } from '../api/group-version.ts'
import type { KubeObject } from '../api/object.ts'
import { CONTROL_PLANES, readControlPlane, ROOT } from '../tenancy/control-plane-spec.ts'
import type { Strategy } from './strategy.ts'
import type { WorkRules } from './work/work.ts'

export const isOfControlPlanes = ({ group, resource }: GroupResource): boolean =>
  group === CONTROL_PLANES.group && resource === CONTROL_PLANES.resource

type ControlPlane = KubeObject & { readonly spec?: unknown }

export const controlPlaneRules: WorkRules = {
  work({ object, old }) {
    const [now, before] = [object, old].map((plane: ControlPlane | undefined) => JSON.stringify(plane?.spec))
    return now === before ? [] : [{ topic: 'control-plane', payload: '' }]
  },
}

/** The server checks ControlPlanes itself, because a user may have changed the CustomResourceDefinition. */
export function withControlPlaneChecks(strategy: Strategy, isNamespaced: boolean): Strategy {
  const check = (object: KubeObject): readonly FieldError[] => {
    if (isNamespaced) return [forbiddenField(path('metadata', 'namespace'), 'a control plane has no namespace')]
    if (object.metadata.name !== ROOT)
      return [forbiddenField(path('metadata', 'name'), `the only control plane is ${JSON.stringify(ROOT)}`)]
    const read = readControlPlane(object)
    return 'errors' in read ? read.errors : []
  }
  return {
    ...strategy,
    async validate(object, context) {
      return [...((await strategy.validate?.(object, context)) ?? []), ...check(object)]
    },
    async validateUpdate(object, old, context) {
      const errors = (await strategy.validateUpdate?.(object, old, context)) ?? []
      // a stored object that is invalid can still lose its finalizers
      return object.metadata.deletionTimestamp === undefined ? [...errors, ...check(object)] : errors
    },
  }
}
