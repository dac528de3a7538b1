// types.json → built-in-table.json: every type as a short text, which built-in.ts expands on first use. A package has
// one text with a line for each type, and one with its kinds. All sets of values are one text, too. So the table has
// some two hundred strings, one split parses a text, and a type costs nothing before its first use.
//
// The text of a type is its head and NAME, NUMBER and TYPE of every field (an inline member is one too), with
// semicolons between all of them:
//
//   head    FLAGS [unions as JSON]
//           K a kind of its package's group version · V a kind of `v1` without a group (Status …) · E of every group
//           version (ListOptions …) · T has kind and apiVersion · A atomic · N no protobuf form; or instead of these
//           W a list in JSON, a message in protobuf · Sname a special codec
//   name    the JSON name · `~` inline · `^name` member of a special type or wrapper
//   number  of protobuf
//   type    TYPE [ATTRIBUTE …]
//           s i l b y d x = string int32 int64 bool bytes double any · @k the kind k of the same package ·
//           @n.k of package n · `*` before it: list · `{` before it: map by strings
//   attrs   p pointer · o / z left out when empty / also when a zero struct · r required · d union discriminator
//           a, e, mKEYS declared list type atomic, set, map · Matomic, Mgranular declared map type
//           PSTRATEGIES, KKEY strategic merge · Vn set of values n · YTYPE Go type where it does not follow
//           GGATES · =JSON default; several strategies, gates or keys with commas between
//
// A set of values is a line: GO-TYPE|declared as enum, 0 or 1|VALUE|VALUE…
const scalars = { string: 's', int32: 'i', int64: 'l', bool: 'b', bytes: 'y', double: 'd', any: 'x' }

const packageOf = (name) => name.slice(0, name.lastIndexOf('.'))
const kindOf = (name) => name.slice(name.lastIndexOf('.') + 1)

/** @param goTypes Go type text → `MODEL.field` for the fields whose Go type the facts lack */
export function builtInTable({ kubernetesVersion, types, enums }, goTypes) {
  const packages = [...new Set(types.map((type) => packageOf(type.name)))].sort()
  const kinds = new Map(packages.map((name) => [name, []]))
  for (const { name } of types) kinds.get(packageOf(name)).push(kindOf(name))
  for (const names of kinds.values()) names.sort()
  const goTypeOf = new Map(Object.entries(goTypes).flatMap(([go, fields]) => fields.map((field) => [field, go])))

  const sets = []
  const setIndex = new Map()
  const valueSet = (field) => {
    const known = enums[field.alias]
    // the declared set of a type is complete; the field may have an older copy of it
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
    const kind = kinds.get(packageOf(name))?.indexOf(kindOf(name)) ?? -1
    if (kind < 0) throw new Error(`${owner}: unknown type ${name}`)
    return packageOf(name) === packageOf(owner) ? `@${kind}` : `@${packages.indexOf(packageOf(name))}.${kind}`
  }

  const fieldText = (type, field) => {
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
      field.listType === 'map' && `m${field.listMapKeys.join(',')}`,
      (field.mapType ?? field.structType) && `M${field.mapType ?? field.structType}`,
      field.patchStrategy && `P${field.patchStrategy}`,
      field.patchMergeKey && `K${field.patchMergeKey}`,
      set !== undefined && `V${set}`,
      goType !== undefined && `Y${goType}`,
      field.featureGates && `G${field.featureGates.join(',')}`,
      field.default !== undefined && `=${JSON.stringify(field.default)}`,
    ].filter(Boolean)
    const words = [`${field.repeated ? '*' : ''}${base}`, ...attributes]
    if ([name, ...words].some((part) => /[\s;]/.test(part))) throw new Error(`${type.name}: a separator in ${words}`)
    return [name, field.proto ?? 0, words.join(' ')].join(';')
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
    if (type.special !== undefined) return `S${type.special}`
    if (type.wrapper !== undefined) return 'W'
    const flags = [
      registered,
      type.typeMeta ? 'T' : '',
      type.structType === 'atomic' ? 'A' : '',
      type.proto === false || type.protoPackage === undefined ? 'N' : '',
    ].join('')
    const unions = type.unions === undefined ? '' : ` ${JSON.stringify(type.unions)}`
    if (/[\s;]/.test(unions.slice(1))) throw new Error(`${type.name}: a separator in ${unions}`)
    return flags + unions
  }

  const texts = new Map(packages.map((name) => [name, []]))
  for (const type of [...types].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    texts.get(packageOf(type.name)).push([head(type), ...type.fields.map((field) => fieldText(type, field))].join(';'))
  }
  const row = (name) =>
    JSON.stringify([name, groupVersions.get(name) ?? '', kinds.get(name).join(' '), texts.get(name).join('\n')])
  return [
    `{"kubernetesVersion":${JSON.stringify(kubernetesVersion)},`,
    `"values":${JSON.stringify(sets.join(';'))},`,
    `"packages":[\n${packages.map(row).join(',\n')}\n]}\n`,
  ].join('\n')
}
