/** Answers in plain text like those of Go's net/http. */

export const NO_CACHE = 'no-cache, private'

export function textResponse(text: string, { status = 200, nosniff = false } = {}): Response {
  return new Response(text, {
    status,
    headers: {
      'Cache-Control': NO_CACHE,
      'Content-Type': 'text/plain; charset=utf-8',
      ...(nosniff ? { 'X-Content-Type-Options': 'nosniff' } : {}),
    },
  })
}

/** The 404 for paths that are not part of the API. */
export const notFoundText = (text = '404 page not found'): Response =>
  textResponse(`${text}\n`, { status: 404, nosniff: true })

/** kube-apiserver's answer to a request that gets no seat. Clients try again after a second. */
export function tooManyRequests(): Response {
  const response = textResponse('Too many requests, please try again later.\n', { status: 429, nosniff: true })
  response.headers.set('Retry-After', '1')
  return response
}
