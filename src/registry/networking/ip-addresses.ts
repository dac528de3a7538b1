import type { FieldError } from '../../api/field.ts'
import { path, required } from '../../api/field.ts'
import type { IPAddress, ParentReference } from '../../api/networking/v1.ts'
import { immutable, problems, validateSubdomain } from '../../validation/field-rules.ts'
import { ipErrors } from '../../api/ip-addresses.ts'
import { pathSegmentName } from '../../validation/names.ts'
import { validateKindMetaUpdate, validateObjectMeta } from '../../validation/object-meta.ts'
import type { NameRule } from '../../validation/names.ts'
import { ipAddressPrinter } from '../../codec/table/networking.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'

const at = path('spec', 'parentRef')

/** The name is the address in its canonical form. */
const addressName: NameRule = (name) =>
  ipErrors(path(), name).map(({ message }) => message.replace(/^Invalid value: ".*?": /s, ''))

export const ipAddresses: BuiltInDefinition<IPAddress> = {
  printer: ipAddressPrinter,
  nameRule: addressName,
  generatesNames: false,
  validate: ({ spec }) => parentErrors(spec?.parentRef),
  metadataOnUpdate: 'by strategy',
  validateUpdate: ({ metadata, spec }, old) => [
    ...validateObjectMeta(metadata, false, addressName),
    ...parentErrors(spec?.parentRef),
    ...validateKindMetaUpdate(metadata, old.metadata),
    ...immutable(at, asPrinted(spec?.parentRef), same(spec?.parentRef, old.spec?.parentRef)),
  ],
}

function parentErrors(parent: ParentReference | undefined): FieldError[] {
  if (parent === undefined) return [required(at)]
  const { group = '', resource = '', name = '', namespace = '' } = parent
  const segment = (field: string, text: string) => problems(at.child(field), text, pathSegmentName(text, false))
  return [
    ...(group === '' ? [] : validateSubdomain(at.child('group'), group)),
    ...(resource === '' ? [required(at.child('resource'))] : segment('resource', resource)),
    ...(name === '' ? [required(at.child('name'))] : segment('name', name)),
    ...(namespace === '' ? [] : segment('namespace', namespace)),
  ]
}

const keysOf = ({ group = '', resource = '', namespace = '', name = '' }: ParentReference) => [
  group,
  resource,
  namespace,
  name,
]

const same = (a: ParentReference | undefined, b: ParentReference | undefined): boolean =>
  JSON.stringify(a && keysOf(a)) === JSON.stringify(b && keysOf(b))

/** kube-apiserver prints the field names of its internal type. */
function asPrinted(parent: ParentReference | undefined) {
  if (parent === undefined) return null
  const [Group, Resource, Namespace, Name] = keysOf(parent)
  return { Group, Resource, Namespace, Name }
}
