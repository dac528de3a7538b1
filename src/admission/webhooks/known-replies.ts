/**
 * Replies of webhooks that the server has parsed before. A webhook that allows a request sends the same text each
 * time, except for the UID. So the server parses such a text once, and puts the new UID into the result.
 */
import { BoundedMap } from '../../base/bounded-map.ts'
import { decodeUtf8 } from '../../base/utf8.ts'
import type { JsonObject } from '../../api/object.ts'
import { isJsonObject } from '../../api/object.ts'
import type { OutgoingAnswer } from '../../webhooks/outgoing-call.ts'

/** The longest reply that is kept, in UTF-16 units. */
const MAX_REPLY = 1_000

/** By the text around the UID. All tenants share it: the same text means the same for each of them. */
const known = new BoundedMap<string, JsonObject>({ entries: 200 })

/** @param read parses the reply; called where no kept reply has the same text */
export async function reviewLikeKnown(
  answer: OutgoingAnswer,
  version: string,
  uid: string,
  read: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const key = keyOf(answer, version, uid)
  const like = key === undefined ? undefined : known.get(key)
  if (like !== undefined) return { ...like, response: { ...responseOf(like), uid } }
  const review = await read()
  if (key === undefined) return review
  const response = responseOf(review)
  // the one UID in the text is `response.uid`; denials are not kept, since they seldom repeat
  if (response?.['uid'] === uid && response['allowed'] === true) known.set(key, review)
  return review
}

const responseOf = ({ response }: JsonObject): JsonObject | undefined => (isJsonObject(response) ? response : undefined)

/** Undefined: the reply is too long, not plain ASCII, or does not contain the UID exactly once. */
function keyOf(answer: OutgoingAnswer, version: string, uid: string): string | undefined {
  const text = answer.status === 200 ? (answer.text ?? asciiOf(answer.body)) : undefined
  if (text === undefined || text.length > MAX_REPLY) return undefined
  const around = text.split(`"${uid}"`)
  return around.length === 2 ? `${version}\0${around.join('\0')}` : undefined
}

/** Plain ASCII only: two different replies then never decode to the same text. */
function asciiOf(body: Uint8Array): string | undefined {
  if (body.length > MAX_REPLY) return undefined
  const text = decodeUtf8(body)
  return text.length === body.length ? text : undefined
}
