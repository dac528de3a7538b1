/** Parses the name of a container image for defaulting, by the distribution project's grammar of image references. */

const component = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const host = `(?:${component}(?:\\.${component})*|\\[[a-fA-F0-9:]+\\])`
const segment = '[a-z0-9]+(?:(?:[_.]|__|-+)[a-z0-9]+)*'
const name = new RegExp(`^(?:${host}(?::[0-9]+)?/)?${segment}(?:/${segment})*$`)
const tag = /^\w[\w.-]{0,127}$/
const digest = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/
const MAX_NAME = 255

/**
 * @returns the tag of an image; `latest` where it has neither tag nor digest; an empty text where it has a digest and
 * no tag, and where the name is invalid
 */
export function imageTag(image: string): string {
  const at = image.indexOf('@')
  const tagged = at < 0 ? image : image.slice(0, at)
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1)
  const path = colon < 0 ? tagged : tagged.slice(0, colon)
  const found = colon < 0 ? undefined : tagged.slice(colon + 1)
  if (path.length > MAX_NAME || /^[a-f0-9]{64}$/.test(path) || !name.test(path) || !isLowerCase(path)) return ''
  if (found !== undefined && !tag.test(found)) return ''
  if (at >= 0 && !digest.test(image.slice(at + 1))) return ''
  return found ?? (at < 0 ? 'latest' : '')
}

/**
 * Only the host of a registry may have capitals. The first part is a host if it is localhost or has a dot, a port or
 * capitals.
 */
function isLowerCase(path: string): boolean {
  const slash = path.indexOf('/')
  const rest = slash < 0 ? path : path.slice(slash + 1)
  return rest === rest.toLowerCase()
}
