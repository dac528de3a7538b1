/**
 * The kinds that an endpoint can decode. kube-apiserver is three servers with a scheme each: those of
 * CustomResourceDefinitions and APIServices know their own group, and the third one all others.
 */
import type { GroupVersionKind } from '../api/group-version.ts'
import { builtInType, typeOfKind } from './built-in.ts'
import type { StructType } from './structural.ts'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const APIEXTENSIONS = 'apiextensions.k8s.io'

const ownScheme: ReadonlySet<string> = new Set([APIEXTENSIONS, 'apiregistration.k8s.io'])
/** Groups whose kinds no endpoint of a resource takes. */
const inNoScheme: ReadonlySet<string> = new Set(['meta.k8s.io', 'apidiscovery.k8s.io'])
/** Kinds that are known in every version, even in those that do not exist. */
const unversioned: ReadonlySet<string> = new Set([
  'Status',
  'APIVersions',
  'APIGroupList',
  'APIGroup',
  'APIResourceList',
])

/** The type of a kind in the scheme of an endpoint. Undefined: it is not registered. */
export function typeInScheme(endpoint: GroupVersionKind, gvk: GroupVersionKind): StructType | undefined {
  const isUnversioned = unversioned.has(gvk.kind) || (endpoint.group === APIEXTENSIONS && gvk.kind === 'WatchEvent')
  if (isUnversioned) return builtInType(`${META}.${gvk.kind}`)
  const type = inNoScheme.has(gvk.group) ? undefined : typeOfKind(gvk)
  if (!ownScheme.has(endpoint.group)) return ownScheme.has(gvk.group) ? undefined : type
  // each scheme has the options in the core version, too
  const isOption = gvk.group === '' && type?.name === `${META}.${gvk.kind}`
  return gvk.group === endpoint.group || isOption ? type : undefined
}
