import { Gathered } from '../base/gathered.ts'
import { LARGE } from '../base/slices.ts'
import { CallFailed } from '../webhooks/outgoing-call.ts'
import type { ExchangeAnswer, Upgraded } from './exchange.ts'

export interface WholeAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export class AnswerTooLong extends CallFailed {}

/**
 * All of an answer, of so many bytes at most.
 * @param take waits for room for them, before more than LARGE are read
 * @throws CallFailed
 */
export async function wholeAnswer(
  answer: ExchangeAnswer | Upgraded,
  maxBytes: number,
  take?: () => Promise<void>,
): Promise<WholeAnswer> {
  if ('upgraded' in answer) throw new CallFailed('another protocol was agreed on that nobody asked for')
  const headers = new Headers(answer.headers.map(([name, value]): [string, string] => [name, value]))
  const body = new Gathered()
  let hasRoom = false
  // leaving the loop ends the stream
  for await (const chunk of answer.body ?? []) {
    if (body.length + chunk.length > maxBytes) throw new AnswerTooLong(`the answer is longer than ${maxBytes} bytes`)
    if (!hasRoom && body.length + chunk.length > LARGE) {
      await take?.()
      hasRoom = true
    }
    body.add(chunk)
  }
  return { status: answer.status, headers, text: new TextDecoder().decode(body.whole()) }
}
