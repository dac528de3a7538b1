import { withoutSpecAndMetadata } from '../../patch/reset-fields.ts'
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../api/apiserverinternal/v1alpha1.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, invalidValue, path, required } from '../../api/field.ts'
import type { KubeObject } from '../../api/object.ts'
import { repeatsIn } from '../../base/lookup.ts'
import { problems, validateQualifiedName } from '../../validation/field-rules.ts'
import { dns1035Label, dns1123Subdomain, regexText, subdomainName } from '../../validation/names.ts'
import { keepMetadata } from '../metadata-of-status.ts'
import { storageVersionPrinter } from '../../codec/table/cluster.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { errorsOf } from '../../validation/errors-of.ts'
import { kept } from '../../base/parts.ts'

export const storageVersions: BuiltInDefinition<StorageVersion & KubeObject> = {
  printer: storageVersionPrinter,
  resetFields: { status: withoutSpecAndMetadata },
  allowUnconditionalUpdate: false,
  nameRule: nameProblems,
  metadataOnUpdate: 'by strategy',
  subresources: {
    status: {
      metadataOnUpdate: 'by strategy',
      prepareForUpdate: ({ metadata }, old) => keepMetadata(metadata, old.metadata),
      validateUpdate: ({ status = {} }) => statusErrors(status, path('status')),
    },
  },
}

/** `GROUP.RESOURCE` */
function nameProblems(name: string): string[] {
  const dot = name.lastIndexOf('.')
  if (dot < 0) return ['name must be in the form of <group>.<resource>']
  return [
    ...dns1123Subdomain(name.slice(0, dot)).map((text) => `the group segment ${text}`),
    ...dns1035Label(name.slice(dot + 1)).map((text) => `the resource segment ${text}`),
  ]
}

function statusErrors(status: StorageVersionStatus, at: FieldPath): FieldError[] {
  const { storageVersions, conditions } = status
  const servers = storageVersions ?? []
  const repeats = repeatsIn(servers.map(({ apiServerID = '' }) => apiServerID))
  return [
    ...errorsOf(servers, (server, index) => {
      const here = at.child('storageVersions').index(index)
      return [
        ...(repeats.has(index) ? [duplicate(here.child('apiServerID'), server.apiServerID ?? '')] : []),
        ...serverErrors(server, here),
      ]
    }),
    ...commonVersionErrors(status, at.child('commonEncodingVersion')),
    // kube-apiserver leaves the field's name out
    ...conditionErrors(conditions ?? [], at),
  ]
}

function serverErrors(server: ServerStorageVersion, at: FieldPath): FieldError[] {
  const { apiServerID = '', encodingVersion = '', decodableVersions, servedVersions } = server
  const decodable = decodableVersions ?? []
  const isDecodable = new Set(decodable)
  const versionErrors = (version: string, here: FieldPath) => {
    const texts = apiVersionProblems(version)
    return texts.length === 0 ? [] : [invalidValue(here, version, texts.join(','))]
  }
  const decodableAt = at.child('decodableVersions')
  const notDecodable = (version: string) =>
    `individual served version : ${version} must be included in decodableVersions : [${decodable.join(' ')}]`
  return [
    ...problems(at.child('apiServerID'), apiServerID, subdomainName(apiServerID, false)),
    ...versionErrors(encodingVersion, at.child('encodingVersion')),
    ...errorsOf(decodable, (version, index) => versionErrors(version, decodableAt.index(index))),
    ...(decodable.includes(encodingVersion)
      ? []
      : [
          invalidValue(
            decodableAt,
            decodableVersions ?? null,
            `decodableVersions must include encodingVersion ${encodingVersion}`,
          ),
        ]),
    ...errorsOf(servedVersions ?? [], (version, index) => {
      const here = at.child('servedVersions').index(index)
      return [
        ...versionErrors(version, here),
        ...(isDecodable.has(version) ? [] : [invalidValue(here, version, notDecodable(version))]),
      ]
    }),
  ]
}

const VERSION = '[a-z]([-a-z0-9]*[a-z0-9])?'
const VERSION_TEXT =
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const EMPTY = 'must be non-empty'

function apiVersionProblems(apiVersion: string): string[] {
  const parts = apiVersion.split('/')
  const part = (name: string, text: string, rule: (text: string) => string[]) =>
    (text === '' ? [EMPTY] : rule(text)).map((problem) => `${name} part: ${problem}`)
  switch (parts.length) {
    case 1:
      return part('version', parts[0]!, dns1035Label)
    case 2:
      return [...part('group', parts[0]!, dns1123Subdomain), ...part('version', parts[1]!, dns1035Label)]
    default:
      return [
        `an apiVersion is ${regexText(VERSION_TEXT, VERSION, 'my-name', 'abc-123')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`,
      ]
  }
}

/** If all servers write the same version, commonEncodingVersion must name it. Otherwise it must be absent. */
function commonVersionErrors(
  { storageVersions, commonEncodingVersion: reported }: StorageVersionStatus,
  at: FieldPath,
): FieldError[] {
  const versions = new Set((storageVersions ?? []).map(({ encodingVersion = '' }) => encodingVersion))
  const [common] = versions.size === 1 ? versions : []
  if (common === reported) return []
  if (common === undefined)
    return [
      invalidValue(
        at,
        reported,
        'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
      ),
    ]
  const why =
    reported === undefined
      ? `the common encoding version is ${common}`
      : `the actual common encoding version is ${common}`
  return [invalidValue(at, reported ?? null, why)]
}

function conditionErrors(conditions: readonly StorageVersionCondition[], at: FieldPath): FieldError[] {
  const last = kept(conditions, () => new Map<string, number>())
  return errorsOf(conditions, ({ type = '', status = '', reason, message }, index) => {
    const here = at.index(index)
    const other = last.get(type)
    last.set(type, index)
    const why = `the type of the condition is not unique, it also appears in conditions[${other}]`
    return [
      ...(other === undefined ? [] : [invalidValue(here.child('type'), type, why)]),
      ...validateQualifiedName(here.child('type'), type),
      ...validateQualifiedName(here.child('status'), status),
      ...(reason ? [] : [required(here.child('reason'))]),
      ...(message ? [] : [required(here.child('message'))]),
    ]
  })
}
