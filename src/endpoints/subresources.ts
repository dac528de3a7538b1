import { ownValue } from '../api/own.ts'
import { notServed } from '../api/status.ts'
import { get } from './get.ts'
import { patch } from './patch.ts'
import { binding } from './pods/binding.ts'
import { execOrAttach, log, portForward } from './pods/connect.ts'
import { eviction } from './pods/eviction.ts'
import { proxy } from './pods/proxy.ts'
import type { ResourceScope } from './resource-scope.ts'
import type { Verb } from './serve-resource.ts'
import { token } from './token.ts'
import { update } from './update.ts'

/** Subresources that are another kind than their resource, or no object at all; the others read and write the object. */
const ofTheirOwn: Readonly<
  Record<string, (scope: ResourceScope, verb: Verb, deeper: readonly string[]) => Promise<Response>>
> = {
  'pods/attach': execOrAttach,
  'pods/binding': binding,
  'pods/eviction': eviction,
  'pods/exec': execOrAttach,
  'pods/log': log,
  'pods/portforward': portForward,
  'serviceaccounts/token': token,
  '*/proxy': proxy,
}

export async function serveSubresource(scope: ResourceScope, verb: Verb, deeper: readonly string[]): Promise<Response> {
  const { resource, subresource } = scope
  const own = ownValue(ofTheirOwn, `${resource.resource}/${subresource}`) ?? ownValue(ofTheirOwn, `*/${subresource}`)
  if (own !== undefined) return own(scope, verb, deeper)
  switch (verb) {
    case 'get':
      return get(scope)
    case 'update':
      return update(scope)
    case 'patch':
      return patch(scope)
    default:
      throw notServed()
  }
}
