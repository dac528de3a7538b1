/**
 * Which built-in versions and resources are switched on: a setting in the manner of kube-apiserver's --runtime-config.
 * `api/all|ga|beta|alpha` (in this order), then `group/version`, then `group/version/resource`, whatever their order in
 * the text; a coarser word undoes no finer one.
 */
import { builtInGroups } from '../api/built-in-groups.ts'
import { assignments, parseBoolean } from '../api/feature-gates.ts'
import { lazy } from '../base/lazy.ts'
import { stageOf } from '../api/version-order.ts'

export interface RuntimeConfig {
  /** Whether a resource of a built-in version is served, as far as this setting goes. */
  enabled(group: string, version: string, resource: string): boolean
}

/** Versions that kube-apiserver still reads, or uses elsewhere, but has no resources of: naming them changes nothing. */
const WITHOUT_RESOURCES: readonly [group: string, versions: readonly string[]][] = [
  ['admission.k8s.io', ['v1', 'v1beta1']],
  ['apiextensions.k8s.io', ['v1beta1']],
  ['apiregistration.k8s.io', ['v1beta1']],
  ['apps', ['v1beta1', 'v1beta2']],
  ['authentication.k8s.io', ['v1beta1', 'v1alpha1']],
  ['authorization.k8s.io', ['v1beta1']],
  ['batch', ['v1beta1']],
  ['discovery.k8s.io', ['v1beta1']],
  ['events.k8s.io', ['v1beta1']],
  ['extensions', ['v1beta1']],
  ['flowcontrol.apiserver.k8s.io', ['v1beta1', 'v1beta2', 'v1beta3']],
  ['imagepolicy.k8s.io', ['v1alpha1']],
  ['node.k8s.io', ['v1beta1', 'v1alpha1']],
  ['policy', ['v1beta1']],
  ['rbac.authorization.k8s.io', ['v1beta1', 'v1alpha1']],
  ['scheduling.k8s.io', ['v1beta1']],
  ['storage.k8s.io', ['v1alpha1']],
]

/** Of each group that kube-apiserver knows, its versions. */
const knownVersions = lazy((): ReadonlyMap<string, ReadonlySet<string>> => {
  const known = new Map(
    builtInGroups.map(({ group, versions }) => [group, new Set(versions.map(({ version }) => version))]),
  )
  for (const [group, versions] of WITHOUT_RESOURCES)
    known.set(group, new Set(versions).union(known.get(group) ?? new Set()))
  return known
})

const stageWords = ['api/all', 'api/ga', 'api/beta', 'api/alpha'] as const

/** @throws Error with kube-apiserver's text: an unknown word, group, version, or a value that is no boolean */
export function parseRuntimeConfig(setting: string | undefined): RuntimeConfig {
  const pairs = new Map(assignments(setting))
  if (pairs.size === 1 && pairs.get('api/all') === 'false')
    throw new Error('invalid runtime-config with only api/all=false')

  const stages = new Map<string, boolean>()
  const versions = new Map<string, boolean>()
  const resources = new Map<string, boolean>()
  const unknown: string[] = []
  for (const [key, text] of pairs) {
    if (isStageWord(key)) {
      if (text !== 'true' && text !== 'false') throw new Error(`invalid value ${key}=${text}`)
      stages.set(key, text === 'true')
      continue
    }
    // the core version is written v1 or api/v1
    const parts = (key.startsWith('v1') ? `api/${key}` : key).split('/')
    if (parts.length < 2 || parts.length > 3) throw new Error(`runtime-config invalid key ${key}`)
    const [prefix = '', version = '', resource] = parts
    const group = prefix === 'api' ? '' : prefix
    const known = knownVersions().get(group)
    if (known === undefined) {
      unknown.push(`${prefix}/${version}`)
      continue
    }
    if (!known.has(version)) throw new Error(`group version ${prefix}/${version} that has not been registered`)
    const value = text === '' ? true : parseBoolean(text)
    if (value === undefined) throw new Error(`invalid value of ${key}: ${text}, err: not a boolean`)
    if (resource === undefined) versions.set(`${group}/${version}`, value)
    else if (resource !== resource.toLowerCase())
      throw new Error(
        `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${JSON.stringify(resource)}`,
      )
    else resources.set(`${group}/${version}/${resource}`, value)
  }
  if (unknown.length > 0) throw new Error(`unknown api groups ${unknown.sort().join(',')}`)

  return {
    enabled: (group, version, resource) =>
      resources.get(`${group}/${version}/${resource}`) ??
      versions.get(`${group}/${version}`) ??
      stages.get(`api/${stageOf(version)}`) ??
      stages.get('api/all') ??
      stageOf(version) === 'ga',
  }
}

const isStageWord = (key: string): boolean => stageWords.some((word) => word === key)
