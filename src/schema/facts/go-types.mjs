// Makes the facts about types (types.json) from Go packages: names and numbers on the wire, omitempty, and the tags in
// comments that OpenAPI and server-side apply use.

const scalars = {
  string: 'string',
  bool: 'bool',
  int: 'int64',
  int32: 'int32',
  int64: 'int64',
  uint8: 'int32',
  float64: 'double',
  'interface{}': 'any',
  any: 'any',
}

/** Types with their own JSON codec: their JSON is not an object of their fields. */
const specials = {
  'k8s.io/apimachinery/pkg/api/resource.Quantity': 'quantity',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Duration': 'duration',
  'k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1': 'fieldsV1',
  'k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime': 'microTime',
  'k8s.io/apimachinery/pkg/apis/meta/v1.Time': 'time',
  'k8s.io/apimachinery/pkg/runtime.RawExtension': 'rawExtension',
  'k8s.io/apimachinery/pkg/runtime.Unknown': 'unknown',
  'k8s.io/apimachinery/pkg/util/intstr.IntOrString': 'intOrString',
}
/** Messages of API packages that no kind uses. */
const NO_API = new Set(['QuantityValue'])
const JSON_SCHEMA =
  /^k8s\.io\/apiextensions-apiserver\/.*\.(JSON|JSONSchemaPropsOrArray|JSONSchemaPropsOrBool|JSONSchemaPropsOrStringArray)$/
const schemaSpecials = {
  JSON: 'json',
  JSONSchemaPropsOrArray: 'schemaOrArray',
  JSONSchemaPropsOrBool: 'schemaOrBool',
  JSONSchemaPropsOrStringArray: 'schemaOrStringArray',
}

export const modelOf = (path, name) => `io.${path.replace(/^k8s\.io/, 'k8s').replaceAll('/', '.')}.${name}`

const specialOf = (key) => specials[key] ?? (JSON_SCHEMA.test(key) ? schemaSpecials[key.split('.').at(-1)] : undefined)

/** Members of the messages of special types. Kubernetes has handwritten code for them. */
const props = (path) => modelOf(path, 'JSONSchemaProps')
const specialFields = {
  time: () => [
    ['seconds', 'int64'],
    ['nanos', 'int32'],
  ],
  microTime: () => [
    ['seconds', 'int64'],
    ['nanos', 'int32'],
  ],
  duration: () => [['duration', 'int64']],
  quantity: () => [['string', 'string']],
  intOrString: () => [
    ['type', 'int64'],
    ['intVal', 'int32'],
    ['strVal', 'string'],
  ],
  rawExtension: () => [['raw', 'bytes']],
  fieldsV1: () => [['Raw', 'bytes']],
  json: () => [['raw', 'bytes']],
  schemaOrArray: (path) => [
    ['schema', props(path), { ptr: true }],
    ['jSONSchemas', props(path), { repeated: true }],
  ],
  schemaOrBool: (path) => [
    ['allows', 'bool'],
    ['schema', props(path), { ptr: true }],
  ],
  schemaOrStringArray: (path) => [
    ['schema', props(path), { ptr: true }],
    ['property', 'string', { repeated: true }],
  ],
  unknown: (path) => [
    ['typeMeta', modelOf(path, 'TypeMeta')],
    ['raw', 'bytes'],
    ['contentEncoding', 'string'],
    ['contentType', 'string'],
  ],
}

/** Kinds that Kubernetes registers in every group version. */
const EVERY_GROUP_VERSION = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
])
const UNVERSIONED = new Set(['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'])
const META = 'k8s.io/apimachinery/pkg/apis/meta/v1'

/** @param packages results of go-package.mjs by path @param isPublished whether OpenAPI publishes a model */
export function typesOf(packages, isPublished) {
  const types = []
  const enums = {}
  for (const goPackage of packages.values())
    for (const [name, declared] of goPackage.types) {
      const { unions, ...type } = typeOf(packages, goPackage, name, declared) ?? {}
      if (type.name !== undefined)
        types.push(unions !== undefined && isPublished(type.name) ? { ...type, unions } : type)
      const values = goPackage.constants.get(name)
      if (declared.kind === 'named' && declared.of === 'string' && values !== undefined)
        enums[modelOf(goPackage.path, name)] = {
          declared: declared.comments.includes('+enum'),
          values: [...new Set(values)].sort(),
        }
    }
  return { types: types.sort((a, b) => (a.name < b.name ? -1 : 1)), enums }
}

function typeOf(packages, goPackage, name, declared) {
  const { path } = goPackage
  if (NO_API.has(name)) return undefined
  const key = `${path}.${name}`
  const common = {
    name: modelOf(path, name),
    goPackage: path,
    ...(goPackage.messages.has(name) ? { protoPackage: path.replaceAll('/', '.').replaceAll('-', '_') } : {}),
  }
  const special = specialOf(key)
  if (special !== undefined) {
    const fields = specialFields[special](path).map(([protoName, type, more], index) => ({
      json: null,
      proto: index + 1,
      protoName,
      type,
      ...more,
    }))
    return { ...common, special, fields }
  }
  if (declared.kind === 'named') {
    if (/^\[\]/.test(declared.of) && isMessage(declared))
      return {
        ...common,
        wrapper: 'list',
        fields: [{ json: null, proto: 1, protoName: 'items', type: 'string', repeated: true }],
      }
    const same = structBehind(packages, goPackage, declared)
    if (same === undefined) return undefined
    return {
      ...typeOf(packages, same.goPackage, same.name, same.declared),
      ...common,
      sameAs: modelOf(same.goPackage.path, same.name),
      ...kindOf(goPackage, name, declared),
    }
  }
  const fields = declared.fields.flatMap((field) => fieldOf(packages, goPackage, field))
  const typeMeta = declared.fields.some(({ type, tags }) => /(^|\.)TypeMeta$/.test(type) && tags.includes('inline'))
  if (!goPackage.messages.has(name) && fields.length === 0) return undefined
  return {
    ...common,
    ...kindOf(goPackage, name, declared),
    ...(tag(declared.comments, 'structType') === 'atomic' ? { structType: 'atomic' } : {}),
    ...(has(declared.comments, 'union') ? unionsOf(declared) : {}),
    ...(typeMeta ? { typeMeta: true } : {}),
    fields,
  }
}

/** Whether a list type is a message of its own, by its tag. */
const isMessage = ({ comments }) => comments.includes('+protobuf.nullable=true')

/** The struct B of `type A B`. `type A = B` declares no new type. */
function structBehind(packages, goPackage, { of, imports }) {
  const found = lookUp(packages, goPackage, of, imports)
  return found?.declared.kind === 'struct' ? found : undefined
}

function lookUp(packages, goPackage, reference, imports) {
  const [alias, name] = reference.includes('.') ? reference.split('.') : [undefined, reference]
  const other = alias === undefined ? goPackage : packages.get(imports.get(alias))
  const declared = other?.types.get(name)
  return declared === undefined ? undefined : { goPackage: other, name, declared }
}

function kindOf(goPackage, name, { comments }) {
  const { path, registered, group } = goPackage
  const version = path.split('/').at(-1)
  const lifecycle = lifecycleOf(comments)
  const at =
    path === META && EVERY_GROUP_VERSION.has(name)
      ? 'everyGroupVersion'
      : path === META && UNVERSIONED.has(name)
        ? 'unversioned'
        : undefined
  const gvk =
    at === 'unversioned'
      ? { group: '', version: 'v1', kind: name }
      : registered.has(name) && group !== undefined && at === undefined
        ? { group, version, kind: name }
        : undefined
  return {
    ...(gvk === undefined ? {} : { gvk }),
    ...(at === undefined ? {} : { registered: at }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
  }
}

function lifecycleOf(comments) {
  const found = {}
  for (const line of comments) {
    const [, what, value] =
      /^\+k8s:prerelease-lifecycle-gen:(introduced|deprecated|removed|replacement)=(.*)$/.exec(line) ?? []
    if (what !== undefined) found[what] = value.trim()
  }
  return Object.keys(found).length === 0 ? undefined : found
}

const tag = (comments, name) => {
  const line = comments.find((one) => one.startsWith(`+${name}=`))
  return line?.slice(name.length + 2).trim()
}
const tags = (comments, name) =>
  comments.filter((one) => one.startsWith(`+${name}=`)).map((one) => one.slice(name.length + 2).trim())
const has = (comments, name) => comments.some((one) => one.trim() === `+${name}` || one.startsWith(`+${name}=`))

function fieldOf(packages, goPackage, field) {
  const { comments } = field
  const json = /json:"([^"]*)"/.exec(field.tags)?.[1]
  const proto = /protobuf:"([^"]*)"/.exec(field.tags)?.[1]
  if (json === undefined || json === '-' || /(^|\.)TypeMeta$/.test(field.type)) return []
  const [jsonName, ...options] = json.split(',')
  const inline = options.includes('inline')
  const number = proto === undefined || proto === '-' ? undefined : Number(proto.split(',')[1])
  const protoName = /name=(\w+)/.exec(proto ?? '')?.[1]
  const shape = shapeOf(packages, goPackage, field.type, field.imports)
  const patch = (name) => new RegExp(`(?:^| )${name}:"([^"]*)"`).exec(field.tags)?.[1]
  const omit =
    options.includes('omitzero') && options.includes('omitempty')
      ? 'both'
      : options.includes('omitempty')
        ? 'empty'
        : undefined
  const { listType, mapType, structType } = {
    listType: tag(comments, 'listType'),
    mapType: tag(comments, 'mapType'),
    structType: tag(comments, 'structType'),
  }
  const byDefault = tag(comments, 'default')
  const required =
    !inline &&
    (has(comments, 'required') || (omit === undefined && !has(comments, 'optional') && !has(comments, 'k8s:optional')))
  const declared = shape.alias === undefined ? undefined : enumOf(packages, shape.alias)
  const { alias, ...rest } = shape
  return [
    {
      json: inline ? null : jsonName,
      ...(number === undefined ? {} : { proto: number }),
      ...(protoName !== undefined && protoName !== jsonName ? { protoName } : {}),
      ...rest,
      ...(inline ? { inline: true } : {}),
      ...(omit === undefined ? {} : { omit }),
      ...(required ? { required: true } : {}),
      ...(alias === undefined ? {} : { alias: modelOf(alias.path, alias.name) }),
      ...(declared === undefined ? {} : { enum: declared }),
      ...(listType === undefined ? {} : { listType }),
      ...(listType === 'map' ? { listMapKeys: tags(comments, 'listMapKey') } : {}),
      ...(mapType === undefined ? {} : { mapType }),
      ...(structType === undefined ? {} : { structType }),
      ...(patch('patchStrategy') === undefined ? {} : { patchStrategy: patch('patchStrategy') }),
      ...(patch('patchMergeKey') === undefined ? {} : { patchMergeKey: patch('patchMergeKey') }),
      ...(byDefault === undefined ? {} : { default: defaultOf(goPackage, byDefault) }),
      ...(has(comments, 'featureGate') ? { featureGates: tags(comments, 'featureGate') } : {}),
      ...(has(comments, 'unionDiscriminator') ? { unionDiscriminator: true } : {}),
    },
  ]
}

const jsonNameOf = ({ tags }) => /json:"([^",]*)/.exec(tags)?.[1] ?? ''

/** x-kubernetes-unions in OpenAPI. */
function unionsOf({ fields }) {
  const discriminator = fields.find(({ comments }) => has(comments, 'unionDiscriminator'))
  const members = fields.filter((field) => field !== discriminator && has(field.comments, 'optional'))
  return {
    unions: [
      {
        ...(discriminator === undefined ? {} : { discriminator: jsonNameOf(discriminator) }),
        'fields-to-discriminateBy': Object.fromEntries(members.map((field) => [jsonNameOf(field), field.name]).sort()),
      },
    ],
  }
}

/** The values of a string type that declares all of its values. */
function enumOf(packages, { path, name }) {
  const goPackage = packages.get(path)
  const declared = goPackage.types.get(name)
  if (!declared.comments.includes('+enum')) return undefined
  return [...new Set(goPackage.constants.get(name) ?? [])].sort()
}

/** The value of a default: JSON, or a constant of the package. */
function defaultOf(goPackage, text) {
  const constant = /^ref\((?:.*\.)?(\w+)\)$/.exec(text)?.[1]
  return constant === undefined ? JSON.parse(text) : goPackage.values.get(constant)
}

/** The facts about a Go type like `[]*v1.Pod`. */
function shapeOf(packages, goPackage, text, imports) {
  if (text === '[]byte') return { type: 'bytes' }
  if (text.startsWith('*')) return { ...shapeOf(packages, goPackage, text.slice(1), imports), ptr: true }
  if (text.startsWith('[]')) {
    const { type, alias } = shapeOf(packages, goPackage, text.slice(2), imports)
    return { type, repeated: true, ...(alias === undefined ? {} : { alias }) }
  }
  const map = /^map\[([\w.]+)\](.*)$/.exec(text)
  if (map !== null) {
    const { type: value, alias } = shapeOf(packages, goPackage, map[2], imports)
    return { type: 'map', key: 'string', value, ...(alias === undefined ? {} : { alias }) }
  }
  if (Object.hasOwn(scalars, text)) return { type: scalars[text] }
  const found = lookUp(packages, goPackage, text, imports)
  if (found === undefined) {
    if (/^types\.\w+$/.test(text)) return { type: 'string' }
    throw new Error(`${goPackage.path}: no type ${text}`)
  }
  const another = /^= (.*)$/.exec(found.declared.of ?? '')?.[1]
  if (another !== undefined) return shapeOf(packages, found.goPackage, another, found.declared.imports)
  const key = `${found.goPackage.path}.${found.name}`
  if (found.declared.kind === 'struct' || specialOf(key) !== undefined)
    return { type: modelOf(found.goPackage.path, found.name) }
  if (isMessage(found.declared)) return { type: modelOf(found.goPackage.path, found.name) }
  if (structBehind(packages, found.goPackage, found.declared) !== undefined)
    return { type: modelOf(found.goPackage.path, found.name) }
  const behind = shapeOf(packages, found.goPackage, found.declared.of, found.declared.imports)
  const known = behind.type === 'string' && behind.repeated === undefined
  return known ? { ...behind, alias: { path: found.goPackage.path, name: found.name } } : behind
}
