/** Finds files of one volume that overwrite each other, for warnings. */
import { withoutTrailing } from '../../base/trim.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import { goQuote } from '../../go/quote.ts'
import { Budget } from '../../base/budget.ts'

interface File {
  readonly path: string
  readonly source: string
}

const text = ({ path, source }: File): string => (source === '' ? goQuote(path) : `${goQuote(path)} (${source})`)

export function overlappingPathWarnings(volumes: readonly CoreV1.Volume[]): string[] {
  return volumes.flatMap(({ name = '', configMap, secret, downwardAPI, projected }) => {
    const warn = (what: string, files: readonly File[]) =>
      overlaps(files).map((body) => `volume ${goQuote(name)} (${what}): overlapping paths: ${body}`)
    return [
      ...(configMap ? warn(`ConfigMap ${goQuote(configMap.name ?? '')}`, filesOf(configMap.items)) : []),
      ...(secret ? warn(`Secret ${goQuote(secret.secretName ?? '')}`, filesOf(secret.items)) : []),
      ...(downwardAPI ? warn('DownwardAPI', filesOf(downwardAPI.items)) : []),
      ...(projected?.sources ?? [])
        .filter((source) => Object.values(source).every((value) => value === undefined))
        .map(() => `volume ${goQuote(name)} (Projected) has no sources provided`),
      ...(projected ? warn('Projected', (projected.sources ?? []).flatMap(projectedFiles)) : []),
    ]
  })
}

const filesOf = (items: readonly { readonly path?: string }[] = [], source = ''): File[] =>
  items.map(({ path = '' }) => ({ path, source }))

function projectedFiles(source: CoreV1.VolumeProjection): File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle: bundle, podCertificate } = source
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`)
  if (secret?.items) return filesOf(secret.items, `Secret ${goQuote(secret.name ?? '')}`)
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI')
  if (serviceAccountToken) return filesOf([serviceAccountToken], 'ServiceAccountToken')
  if (bundle) return filesOf([bundle], `ClusterTrustBundle ${goQuote(bundle.name ?? bundle.signerName ?? '')}`)
  if (podCertificate === undefined) return []
  const { certificateChainPath, keyPath, credentialBundlePath } = podCertificate
  return [
    { path: certificateChainPath ?? '', source: 'PodCertificate chain' },
    { path: keyPath ?? '', source: 'PodCertificate key' },
    { path: credentialBundlePath ?? '', source: 'PodCertificate credential bundle' },
  ].filter(({ path }) => path !== '')
}

/** The most comparisons for one volume, which may have any number of files. The search for warnings ends there. */
const MAX_COMPARISONS = 200_000

function overlaps(files: readonly File[]): string[] {
  const before: File[] = []
  const work = new Budget(MAX_COMPARISONS)
  return files.flatMap((given) => {
    const file = { ...given, path: withoutTrailing(given.path, '/') }
    if (file.path === '' || !work.spend(before.length)) return []
    // few: the budget bounds the comparisons
    const met = before.filter((other) => overlap(file.path, other.path))
    before.push(file)
    return met.map((other) => `${text(file)} with ${text(other)}`)
  })
}

const overlap = (a: string, b: string) => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)
