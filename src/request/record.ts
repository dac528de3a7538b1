/**
 * The data of a request for audit and the access log, which the steps add as they go. It exists only where one of these
 * is on. All copies of a request share it.
 */
import type { Status } from '../api/status.ts'
import { levels } from '../configuration/audit-policy.ts'
import type { AuditLevel } from '../configuration/audit-policy.ts'
import type { UserInfo } from './user-info.ts'

export const reaches = (level: AuditLevel, wanted: AuditLevel): boolean =>
  levels.indexOf(level) >= levels.indexOf(wanted)

/** Facts from an object's own metadata. */
export interface ObjectFacts {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** Larger ones are left out of events. Characters. */
export const MAX_OBJECT = 1 << 20

export class RequestRecord {
  /** The user; undefined before, or without, authentication. */
  user: UserInfo | undefined
  impersonated: { readonly user: UserInfo; readonly constraint: string } | undefined
  /** Name of the FlowSchema. */
  flowSchema = ''
  /** `None` until the policy was asked. */
  level: AuditLevel = 'None'
  readonly annotations = new Map<string, string>()
  object: ObjectFacts = {}
  /** JSON. */
  requestObject: string | undefined
  /** The request's object is a patch, which is shown as it came. */
  isPatch = false
  /** JSON, which may come after the head of the answer. */
  responseObject: string | undefined | Promise<string | undefined>
  truncated = false
  /** The Status of the answer, if it is one. */
  status: Status | undefined
  /** The message of an error without an answer: a mistake of the server. */
  panic: string | undefined

  get wantsRequest(): boolean {
    return reaches(this.level, 'Request')
  }

  get wantsResponse(): boolean {
    return this.level === 'RequestResponse'
  }

  /** The first that says something under a key is believed. */
  annotate(key: string, value: string): void {
    if (!this.annotations.has(key)) this.annotations.set(key, value)
  }

  /** Text that is short enough, or nothing, which the event then says. */
  bounded(text: string): string | undefined {
    if (text.length <= MAX_OBJECT) return text
    this.truncated = true
    return undefined
  }

  /** The same of a stream of UTF-8, which is given up where it becomes too long. */
  async collected(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
    const decoder = new TextDecoder()
    const parts: string[] = []
    let length = 0
    for await (const chunk of stream) {
      const part = decoder.decode(chunk, { stream: true })
      length += part.length
      if (length > MAX_OBJECT) {
        this.truncated = true
        return undefined // leaving the loop cancels the stream
      }
      parts.push(part)
    }
    return parts.join('')
  }
}
