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
  const names = new Map()
  const texts = FILES.map(([module, file]) => join(directories.get(module) ?? '', file))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'utf8'))
  for (const text of texts)
    for (const [, go, name] of text.matchAll(/^\s*(\w+)\s+(?:\w+\.)?Feature = "(\w+)"/gm)) names.set(go, name)
  for (const text of texts)
    for (const [, indent, go, body] of text.matchAll(
      /^(\t+)(?:\w+\.)?(\w+): (?:\w+\.VersionedSpecs)?\{\n([^]*?)^\1\},$/gm,
    )) {
      if (indent.length > 2) continue
      const spec = specAt(body, release)
      if (spec !== undefined) gates[names.get(go) ?? go] = spec
    }
  for (const text of texts)
    for (const [gate, needs] of neededGates(text)) {
      const spec = gates[names.get(gate) ?? gate]
      if (spec !== undefined) spec.needs = needs.map((go) => names.get(go) ?? go)
    }
  return Object.fromEntries(Object.entries(gates).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The last row that is not from a later release. */
function specAt(body, release) {
  let found
  for (const [, version, on, more] of body.matchAll(
    /Version: \w*\.?\w+\("(\d+\.\d+)"\), Default: (\w+)((?:, \w+: [\w.]+)*)/g,
  )) {
    if (order(version) > order(release)) continue
    const stage = /PreRelease: (?:\w+\.)?(\w+)/.exec(more)?.[1] || 'ALPHA'
    found = { stage: stage.toUpperCase(), default: on === 'true' }
    if (/LockToDefault: true/.test(more)) found.locked = true
  }
  return found
}

/** Pairs of a gate and those without which it cannot be on. */
const neededGates = (text) =>
  [...text.matchAll(/^\t(?:\w+\.)?(\w+): +\{([^{}\n]+)\},/gm)].map(([, gate, needs]) => [
    gate,
    needs.split(',').map((one) => /(\w+)\)?$/.exec(one.trim())[1]),
  ])

const order = (version) => version.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0)
