import { expect, test } from 'vitest'
import { reviewLikeKnown } from '../../../src/admission/webhooks/known-replies.ts'

const encoder = new TextEncoder()
let uids = 0
const newUid = () => `00000000-0000-4000-8000-${String(++uids).padStart(12, '0')}`
const replyText = (uid: string, more = '"allowed":true') =>
  `{"kind":"AdmissionReview","response":{"uid":"${uid}",${more}}}`

/** Reads a reply twice, for two reviews. @returns what is read of the second, and whether it had to be read anew */
async function second(textOf: (uid: string) => string, versions = ['v1', 'v1'], status = 200) {
  let reads = 0
  let last: unknown
  for (const version of versions) {
    const uid = newUid()
    const text = textOf(uid)
    const read = async () => {
      reads++
      return JSON.parse(text)
    }
    const answer = { status, contentType: 'application/json', body: encoder.encode(text) }
    last = await reviewLikeKnown(answer, version, uid, read)
    expect(last).toEqual(JSON.parse(text))
  }
  return reads
}

test.each<[what: string, reads: number, textOf: (uid: string) => string, versions?: string[], status?: number]>([
  ['a webhook that agrees', 1, (uid) => replyText(uid)],
  ['one with a warning that repeats', 1, (uid) => replyText(uid, '"allowed":true,"warnings":["a"]')],
  ['one that says something else', 2, (uid) => replyText(uid, `"allowed":true,"warnings":["${uids}"]`)],
  ['one that denies', 2, (uid) => replyText(uid, '"allowed":false')],
  ['one that does not say', 2, (uid) => replyText(uid, '"status":{}')],
  ['one that says the UID twice', 2, (uid) => replyText(uid, `"allowed":true,"warnings":["${uid}"]`)],
  ['one that says the UID elsewhere', 2, (uid) => `{"response":{"allowed":true},"more":"${uid}"}`],
  ['one that says another UID', 2, () => replyText('other')],
  ['one with signs beyond ASCII', 2, (uid) => replyText(uid, '"allowed":true,"warnings":["ä"]')],
  ['a long one', 2, (uid) => replyText(uid, `"allowed":true,"warnings":["${'x'.repeat(1000)}"]`)],
  ['one of another version', 2, (uid) => replyText(uid, '"allowed":true,"x":1'), ['v1', 'v1beta1']],
  ['one that failed', 2, (uid) => replyText(uid, '"allowed":true,"y":1'), ['v1', 'v1'], 500],
])('of two replies of %s, %i are read', async (_what, reads, textOf, versions, status) => {
  expect(await second(textOf, versions, status)).toBe(reads)
})
