/** Validates the volumes of a pod: each has exactly one valid source (core validation of VolumeSource). */
import { kept } from '../../base/parts.ts'
import { append } from '../../base/append.ts'
import type * as CoreV1 from '../../api/core/v1.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, forbiddenField, invalidValue, required } from '../../api/field.ts'
import { validateLabelText } from '../field-rules.ts'
import { dns1123Subdomain } from '../names.ts'
import { byteLength } from '../../base/utf8.ts'
import type { PodRules } from './rules.ts'
import { errorsOf } from '../errors-of.ts'
import type { Source, SourceName, VolumeContext } from './volume-sources.ts'
import { sourceOrder, sourceRules } from './volume-sources.ts'

/** The valid volumes by their name. */
export type Volumes = ReadonlyMap<string, CoreV1.Volume>

export function validateVolumes(
  at: FieldPath,
  volumes: readonly CoreV1.Volume[],
  podMeta: ObjectMeta | undefined,
  rules: PodRules,
): { readonly found: Volumes; readonly errors: FieldError[] } {
  const found = kept(volumes, () => new Map<string, CoreV1.Volume>())
  const podName = podMeta?.name ?? ''
  const created = kept(
    volumes,
    () =>
      new Set(
        podName === '' ? [] : volumes.filter(({ ephemeral }) => ephemeral).map(({ name }) => `${podName}-${name}`),
      ),
  )
  const errors = errorsOf(volumes, (volume, index) => {
    const here = at.index(index)
    const { name = '', persistentVolumeClaim } = volume
    const wrong = validateSource(here, volume, { name, podName, rules })
    append(wrong, name === '' ? [required(here.child('name'))] : validateLabelText(here.child('name'), name))
    if (found.has(name)) wrong.push(duplicate(here.child('name'), name))
    if (wrong.length === 0) found.set(name, volume)
    if (persistentVolumeClaim && created.has(persistentVolumeClaim.claimName ?? ''))
      wrong.push(
        invalidValue(
          here.child('persistentVolumeClaim', 'claimName'),
          persistentVolumeClaim.claimName,
          'must not reference a PVC that gets created for an ephemeral volume',
        ),
      )
    return wrong
  })
  return { found, errors }
}

function validateSource(at: FieldPath, volume: CoreV1.Volume, context: VolumeContext): FieldError[] {
  const errors: FieldError[] = []
  let sources = 0
  for (const field of sourceOrder) {
    const source = volume[field]
    if (source === undefined) continue
    if (sources === 0 || field === 'emptyDir')
      append(errors, (sourceRules[field] as Source<unknown>)(at.child(pathsOfRules[field] ?? field), source, context))
    else errors.push(forbiddenField(at.child(pathsOfSecond[field] ?? field), 'may not specify more than 1 volume type'))
    sources++
    append(errors, besides[field]?.(at, volume, context, sources) ?? [])
  }
  if (sources === 0) errors.push(required(at, 'must specify a volume type'))
  return errors
}

/** kube-apiserver's error paths where they differ from the field's name, with its spelling mistakes. */
const pathsOfRules: Partial<Record<SourceName, string>> = { gcePersistentDisk: 'persistentDisk' }
const pathsOfSecond: Partial<Record<SourceName, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

/** Rules that also depend on the volume's name. `sources` is the number of sources so far, with this one. */
const besides: Partial<
  Record<SourceName, (at: FieldPath, volume: CoreV1.Volume, context: VolumeContext, sources: number) => FieldError[]>
> = {
  iscsi: (at, { iscsi }, { name }) =>
    iscsi?.initiatorName !== undefined && byteLength(`${name}:${iscsi.targetPortal ?? ''}`) > 64
      ? [
          invalidValue(
            at.child('name'),
            name,
            'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
          ),
        ]
      : [],
  ephemeral(at, _volume, { name, podName }, sources) {
    if (sources > 1 || podName === '' || name === '') return []
    const claim = `${podName}-${name}`
    return dns1123Subdomain(claim).map((text) =>
      invalidValue(at.child('name'), name, `PVC name ${JSON.stringify(claim)}: ${text}`),
    )
  },
}
