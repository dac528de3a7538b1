// `kedge encryption rewrite`: stores encrypted resources again, with the server's first key.
import * as z from 'zod/mini'
import { answerTo, ask } from '../ask.ts'
import type { Server } from './backup.ts'
import { checked } from '../checked.ts'

/** Objects of one page: a Secret may have a megabyte. */
const PAGE = 50

const list = z.object({
  metadata: z.object({ continue: z.optional(z.string()) }),
  items: z.array(z.object({ metadata: z.object({ name: z.string(), namespace: z.optional(z.string()) }) })),
})
/** The Status of a page whose token has expired. Its token goes on with the list of now. */
const expired = z.object({ metadata: z.object({ continue: z.string() }) })
/** Sent back unchanged. */
const object = z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string() }) })
const apiGroup = z.object({ preferredVersion: z.object({ groupVersion: z.string() }) })

/**
 * Sends every object back unchanged. The server stores it again where it was sealed with another key, or not at all.
 * A change or deletion by another client meanwhile does as well, and so does a list of several moments: what came
 * later was sealed with the first key. May be interrupted and repeated.
 * @param resource `secrets`, `things.example.com`
 */
export async function rewrite(server: Server, resource: string): Promise<{ seen: number; written: number }> {
  const { prefix, name } = await pathOf(server, resource)
  let seen = 0
  let written = 0
  for (let next: string | undefined = ''; next !== undefined;) {
    const query: string = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    const path = `${prefix}/${name}?limit=${PAGE}${query}`
    const { status, text } = await answerTo(server, 'GET', path, undefined, [EXPIRED])
    if (status === EXPIRED) {
      next = checked(expired, JSON.parse(text), path).metadata.continue
      continue
    }
    const page = checked(list, JSON.parse(text), path)
    for (const { metadata } of page.items) {
      seen++
      const space = metadata.namespace === undefined ? '' : `namespaces/${metadata.namespace}/`
      if (await rewriteOne(server, `${prefix}/${space}${name}/${metadata.name}`)) written++
    }
    next = page.metadata.continue
  }
  return { seen, written }
}

const EXPIRED = 410
const GONE = 404
const CHANGED = 409

/** @returns whether the server stored it again */
async function rewriteOne(server: Server, path: string): Promise<boolean> {
  const stored = checked(z.optional(object), await ask(server, 'GET', path, undefined, [GONE]), path)
  if (stored === undefined) return false
  const answer = checked(z.optional(object), await ask(server, 'PUT', path, stored, [GONE, CHANGED]), path)
  return answer !== undefined && answer.metadata.resourceVersion !== stored.metadata.resourceVersion
}

async function pathOf(server: Server, resource: string): Promise<{ prefix: string; name: string }> {
  const [name = '', ...group] = resource.split('.')
  if (group.length === 0) return { prefix: '/api/v1', name }
  const path = `/apis/${group.join('.')}`
  const { preferredVersion } = checked(apiGroup, await ask(server, 'GET', path), path)
  return { prefix: `/apis/${preferredVersion.groupVersion}`, name }
}
