// Reads the declarations of a Go package with Kubernetes' API types. It needs no full Go parser, because gofmt writes
// each field on one line, with its comments above and its tags behind.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const isSource = (name) =>
  name.endsWith('.go') && !/_test\.go$|^zz_generated|^generated\.pb|^types_swagger_doc/.test(name)

/**
 * @param directory the directory of the package @param path its import path
 * @returns {path, types, constants, registered}: types by name {kind: 'struct', fields, comments} or {kind: 'named',
 *   of, comments}; constants by type name, in order; names in AddKnownTypes
 */
export function readGoPackage(directory, path) {
  const goPackage = {
    path,
    types: new Map(),
    constants: new Map(),
    values: new Map(),
    registered: new Set(),
    constantTexts: [],
  }
  goPackage.messages = messagesOf(directory)
  for (const name of readdirSync(directory).filter(isSource).sort())
    readFile(readFileSync(join(directory, name), 'utf8'), goPackage)
  return goPackage
}

function readFile(text, goPackage) {
  const imports = importsOf(text)
  const lines = text.split('\n')
  let comments = []
  let inConstants = false
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]
    const comment = /^\s*\/\/ ?(.*)$/.exec(line)
    if (comment !== null) {
      comments.push(comment[1])
      continue
    }
    const struct = /^type (\w+) struct ?\{(\})?$/.exec(line)
    if (struct !== null) {
      const { fields, next } = struct[2] === undefined ? fieldsOf(lines, at + 1, imports) : { fields: [], next: at }
      goPackage.types.set(struct[1], { kind: 'struct', fields, comments: commentsAbove(comments), imports })
      at = next
    } else {
      const named = /^type (\w+) (=? ?[\w.[\]*{}]+)\s*(?:\/\/.*)?$/.exec(line)
      if (named !== null)
        goPackage.types.set(named[1], { kind: 'named', of: named[2], comments: commentsAbove(comments), imports })
    }
    if (/^const \($/.test(line)) inConstants = true
    else if (/^\)/.test(line)) inConstants = false
    const constant = /^(?:const|\t)\s*(\w+)(?:\s+([\w.]+))?\s*= (?:(\w+)\()?("[^"]*"|[\w.]+)\)?/.exec(line)
    if (constant !== null && (inConstants || line.startsWith('const'))) {
      const [, name, type, conversion, text] = constant
      goPackage.constantTexts.push({ name, type: type ?? conversion, text, imports })
    }
    for (const [, kind] of line.matchAll(/^\t\t&(\w+)\{\},?/g)) goPackage.registered.add(kind)
    for (const [, list] of line.matchAll(/AddKnownTypes\(\w+, (.*)\)/g))
      for (const [, kind] of list.matchAll(/&(\w+)\{\}/g)) goPackage.registered.add(kind)
    if (line.trim() === '') comments.push('')
    else comments = []
  }
}

/** The names of the messages in the published .proto file. */
function messagesOf(directory) {
  try {
    const text = readFileSync(join(directory, 'generated.proto'), 'utf8')
    return new Set([...text.matchAll(/^message (\w+) \{/gm)].map(([, name]) => name))
  } catch {
    return new Set()
  }
}

/** Resolves constants whose value is another constant of the package or of an imported one. */
export function resolveConstants(packages) {
  const valueOf = (goPackage, { text, imports }) => {
    if (text.startsWith('"')) return text.slice(1, -1)
    const [alias, name] = text.includes('.') ? text.split('.') : [undefined, text]
    const other = alias === undefined ? goPackage : packages.get(imports.get(alias))
    const constant = other?.constantTexts.find((one) => one.name === name)
    return constant === undefined ? undefined : valueOf(other, constant)
  }
  for (const goPackage of packages.values())
    for (const constant of goPackage.constantTexts) {
      const value = valueOf(goPackage, constant)
      if (value === undefined) continue
      goPackage.values.set(constant.name, value)
      if (constant.type !== undefined) push(goPackage.constants, constant.type, value)
    }
}

/** The comments of a declaration, with the tags that a blank line separates from them. */
const commentsAbove = (comments) => comments.filter((line) => line !== '')

function importsOf(text) {
  const imports = new Map()
  for (const [, alias, path] of text.matchAll(/^(?:import)?\s*(\w+)? ?"([\w./-]+)"$/gm))
    imports.set(alias ?? path.split('/').at(-1), path)
  return imports
}

function fieldsOf(lines, from, imports) {
  const fields = []
  let comments = []
  let at = from
  for (; !/^\}/.test(lines[at]); at++) {
    const comment = /^\s*\/\/ ?(.*)$/.exec(lines[at])
    if (comment !== null) comments.push(comment[1])
    else {
      const field = /^\t(?:(\w+)\s+)?([\w.[\]*{}]+)(?:\s+`(.*)`)?\s*(?:\/\/.*)?$/.exec(lines[at])
      if (field !== null) {
        const [, name, type, tags = ''] = field
        fields.push({
          name: name ?? type.split('.').at(-1),
          embedded: name === undefined,
          type,
          tags,
          comments,
          imports,
        })
      }
      comments = []
    }
  }
  return { fields, next: at }
}

function push(map, key, value) {
  if (!map.has(key)) map.set(key, [])
  map.get(key).push(value)
}
