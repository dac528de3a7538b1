// Makes the facts about feature gates (feature-gates.json) from the tables of versions in Kubernetes' Go source.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The modules and files that declare gates of kube-apiserver. */
const FILES = [
  ['kubernetes', 'pkg/features/kube_features.go'],
  ['apiserver', 'pkg/features/kube_features.go'],
  ['apiextensions-apiserver', 'pkg/features/kube_features.go'],
  ['component-base', 'logs/api/v1/kube_features.go'],
  ['component-base', 'metrics/features/kube_features.go'],
  ['component-base', 'zpages/features/kube_features.go'],
  ['component-base', 'tracing/api/v1/config.go'],
  ['controller-manager', 'pkg/features/kube_features.go'],
  ['client-go', 'features/known_features.go'],
]

/** Gates that switch all gates of a stage. All components have them. */
const STAGES = { AllAlpha: { stage: 'ALPHA', default: false }, AllBeta: { stage: 'BETA', default: false } }

/** @param directories the directories by module @param release `1.36` */
export function featureGatesOf(directories, release) {
  const gates = { ...STAGES }
  for (const [module, file] of FILES) {
    const path = join(directories.get(module) ?? '', file)
    if (!existsSync(path)) continue
    const text = readFileSync(path, 'utf8')
    const names = new Map(
      [...text.matchAll(/^\s*(\w+)\s+(?:\w+\.)?Feature = "(\w+)"/gm)].map(([, go, name]) => [go, name]),
    )
    for (const [, indent, go, body] of text.matchAll(
      /^(\t+)(?:\w+\.)?(\w+): (?:\w+\.VersionedSpecs)?\{\n([^]*?)^\1\},$/gm,
    )) {
      if (indent.length > 2) continue
      const spec = specAt(body, release)
      if (spec !== undefined) gates[names.get(go) ?? go] = spec
    }
  }
  return Object.fromEntries(Object.entries(gates).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The last row that is not from a later release. */
function specAt(body, release) {
  let found
  for (const [, version, on, stage] of body.matchAll(
    /Version: \w*\.?\w+\("(\d+\.\d+)"\), Default: (\w+)(?:, (?:LockToDefault: \w+, )?PreRelease: (?:\w+\.)?(\w+))?/g,
  ))
    if (order(version) <= order(release)) found = { stage: (stage || 'ALPHA').toUpperCase(), default: on === 'true' }
  return found
}

const order = (version) => version.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0)
