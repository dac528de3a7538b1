// types.json → built-in-table.json: every type as a few lines of text, which built-in.ts expands on first use. All types
// of a package are one text, with an empty line between them, and all sets of values another: so the table is some sixty
// strings, and no type costs anything before it is asked for. A line ends with a semicolon, which needs no escape.
//
// The text of a type is a head line and one line a field (an inline member or a member of a special type is one too):
//
//   head    KIND FLAGS [unions as JSON]
//           K a kind of its package's group version · V a kind of `v1` without a group (Status …) · E of every group
//           version (ListOptions …) · T has kind and apiVersion · A atomic · N no protobuf form · W a list in JSON,
//           a message in protobuf · Sname a special codec (always the last flag)
//   field   NAME NUMBER TYPE [ATTRIBUTE …]
//   name    the JSON name · `~` inline · `^name` member of a special type or wrapper
//   type    s i l b y d x = string int32 int64 bool bytes double any · @Kind of the same package · @n.Kind of package n
//           `*` before it: list · `{` before it: map by strings
//   attrs   p pointer · o / z left out when empty / also when a zero struct · r required · d union discriminator
//           a e m(keys) declared list type atomic, set, map · M(atomic|granular) declared map type
//           P(strategies) K(key) strategic merge · Vn set of values n · Y(Go type) where it does not follow
//           G(gates) · =JSON default
//
// A set of values is a line: GO-TYPE|declared as enum, 0 or 1|VALUE|VALUE…
const scalars = { string: 's', int32: 'i', int64: 'l', bool: 'b', bytes: 'y', double: 'd', any: 'x' }

const packageOf = (name) => name.slice(0, name.lastIndexOf('.'))
const kindOf = (name) => name.slice(name.lastIndexOf('.') + 1)

/** @param goTypes Go type text → `MODEL.field` for the fields whose Go type the facts do not tell */
export function builtInTable({ kubernetesVersion, types, enums }, goTypes) {
  const packages = [...new Set(types.map((type) => packageOf(type.name)))].sort()
  const packageIndex = new Map(packages.map((name, index) => [name, index]))
  const goTypeOf = new Map(Object.entries(goTypes).flatMap(([go, fields]) => fields.map((field) => [field, go])))

  const sets = []
  const setIndex = new Map()
  const valueSet = (field) => {
    const known = enums[field.alias]
    // a declared set is complete where it is declared; the field may carry an older copy of it
    const values = (known?.declared ? known.values : field.enum) ?? known?.values ?? []
    if (field.alias === undefined && field.enum === undefined) return undefined
    const goType = field.alias === undefined ? 'string' : field.alias.split('.').slice(-2).join('.')
    const parts = [goType, field.enum !== undefined ? '1' : '0', ...values]
    if (parts.some((part) => /[|;]/.test(part))) throw new Error(`${goType}: a separator in ${values}`)
    const key = parts.join('|')
    if (!setIndex.has(key)) setIndex.set(key, sets.push(key) - 1)
    return setIndex.get(key)
  }

  const reference = (owner, name) => {
    if (name in scalars) return scalars[name]
    const index = packageIndex.get(packageOf(name))
    if (index === undefined) throw new Error(`${owner}: unknown type ${name}`)
    return packageOf(name) === packageOf(owner) ? `@${kindOf(name)}` : `@${index}.${kindOf(name)}`
  }

  const fieldLine = (type, field) => {
    const member = type.special !== undefined || type.wrapper !== undefined
    const name = member ? `^${field.protoName}` : field.inline ? '~' : field.json
    const base = field.type === 'map' ? `{${reference(type.name, field.value)}` : reference(type.name, field.type)
    const set = valueSet(field)
    const goType = goTypeOf.get(`${type.name}.${field.json}`)
    const attributes = [
      field.ptr && 'p',
      field.omit === 'empty' && 'o',
      field.omit === 'both' && 'z',
      field.required && 'r',
      field.unionDiscriminator && 'd',
      field.listType === 'atomic' && 'a',
      field.listType === 'set' && 'e',
      field.listType === 'map' && `m(${field.listMapKeys.join(',')})`,
      (field.mapType ?? field.structType) && `M(${field.mapType ?? field.structType})`,
      field.patchStrategy && `P(${field.patchStrategy})`,
      field.patchMergeKey && `K(${field.patchMergeKey})`,
      set !== undefined && `V${set}`,
      goType !== undefined && `Y(${goType})`,
      field.featureGates && `G(${field.featureGates.join(',')})`,
      field.default !== undefined && `=${JSON.stringify(field.default)}`,
    ].filter(Boolean)
    const line = [name, field.proto ?? 0, `${field.repeated ? '*' : ''}${base}`, ...attributes]
    if (line.some((part) => /[\s;]/.test(part))) throw new Error(`${type.name}: a separator in ${line}`)
    return line.join(' ')
  }

  const groupVersions = new Map() // package → apiVersion of its kinds
  const head = (type) => {
    const registered =
      type.registered === 'everyGroupVersion' ? 'E' : type.registered === 'unversioned' ? 'V' : type.gvk ? 'K' : ''
    if (registered === 'K') {
      const { group, version, kind } = type.gvk
      const apiVersion = group === '' ? version : `${group}/${version}`
      const seen = groupVersions.get(packageOf(type.name)) ?? apiVersion
      if (seen !== apiVersion || kind !== kindOf(type.name)) throw new Error(`${type.name} is ${apiVersion} ${kind}`)
      groupVersions.set(packageOf(type.name), apiVersion)
    }
    const flags = [
      registered,
      type.typeMeta ? 'T' : '',
      type.structType === 'atomic' ? 'A' : '',
      type.proto === false || type.protoPackage === undefined ? 'N' : '',
      type.wrapper === undefined ? '' : 'W',
      type.special === undefined ? '' : `S${type.special}`,
    ].join('')
    const unions = type.unions === undefined ? '' : ` ${JSON.stringify(type.unions)}`
    if (unions.includes(';')) throw new Error(`${type.name}: a separator in ${unions}`)
    return flags + unions
  }

  const texts = new Map(packages.map((name) => [name, []]))
  for (const type of [...types].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const lines = [`${kindOf(type.name)} ${head(type)}`, ...type.fields.map((field) => fieldLine(type, field))]
    texts.get(packageOf(type.name)).push(lines.join(';'))
  }
  const row = ([name, types]) => JSON.stringify([name, groupVersions.get(name) ?? '', types.join(';;')])
  return [
    `{"kubernetesVersion":${JSON.stringify(kubernetesVersion)},`,
    `"values":${JSON.stringify(sets.join(';'))},`,
    `"packages":[\n${[...texts].map(row).join(',\n')}\n]}\n`,
  ].join('\n')
}
