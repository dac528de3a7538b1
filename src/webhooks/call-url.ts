import { escapedPath, hostText, parseUrl } from '../go/url.ts'

/**
 * The URL that client-go's RESTClient posts to: the path is decoded, cleaned and encoded anew. Go's http.ServeMux
 * redirects a request for a path that is not clean, and no redirect is followed.
 * @param url without query and fragment, as validation wants it
 */
export function callUrl(url: string): string {
  const parsed = parseUrl(url)
  if ('problem' in parsed) throw new TypeError(`assertion failed: a webhook is at no URL: ${parsed.problem}`)
  return `${parsed.scheme}://${hostText(parsed)}${escapedPath({ ...parsed, path: cleanPath(parsed.path), rawPath: '' })}`
}

/** Go's path.Join("/", path). */
export function cleanPath(path: string): string {
  const kept: string[] = []
  for (const part of path.split('/'))
    if (part === '..') kept.pop()
    else if (part !== '' && part !== '.') kept.push(part)
  return `/${kept.join('/')}`
}
