/**
 * The SHA-256 of a backup: of every byte before its last line, so `head -n -1 FILE | sha256sum` tells it. A changed
 * byte would otherwise become a name, a rule or a Secret that nobody wrote.
 */
import { bytesToBase16 } from '../../base/base16.ts'

/** UTF-16 units of lines that are hashed together. */
const TOGETHER = 64 * 1024

export class BackupDigest {
  private readonly stream = new crypto.DigestStream('SHA-256')
  private readonly writer = this.stream.getWriter()
  private lines = ''

  async add(bytes: Uint8Array): Promise<void> {
    await this.writer.write(bytes)
  }

  /** Adds a line and its newline. */
  async addLine(line: string): Promise<void> {
    this.lines += `${line}\n`
    if (this.lines.length >= TOGETHER) await this.flush()
  }

  /** In base 16. Nothing is added after it. */
  async end(): Promise<string> {
    await this.flush()
    await this.writer.close()
    return bytesToBase16(new Uint8Array(await this.stream.digest))
  }

  private async flush(): Promise<void> {
    const { lines } = this
    this.lines = ''
    if (lines !== '') await this.writer.write(encoder.encode(lines))
  }
}

const encoder = new TextEncoder()

/** The lines of a backup that is read. */
export class BackupLines {
  private readonly digest = new BackupDigest()
  /** It may be the last line, which is not part of the digest. */
  private latest: string | undefined

  constructor(private readonly lines: AsyncGenerator<string>) {}

  async next(): Promise<string | undefined> {
    if (this.latest !== undefined) await this.digest.addLine(this.latest)
    const { value, done } = await this.lines.next()
    this.latest = done === true ? undefined : value
    return this.latest
  }

  /** Of all lines before the latest one, which is then the last. */
  digestBefore(): Promise<string> {
    this.latest = undefined
    return this.digest.end()
  }
}
