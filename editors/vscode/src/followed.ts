// What is noted of the messages between VS Code and the debug adapter of one session. Knows nothing of VS Code.

/** A message of the protocol, as far as it is looked at. */
interface Message {
    type?: unknown;
    seq?: unknown;
    command?: unknown;
    event?: unknown;
    body?: { threadId?: unknown; capabilities?: { supportsStepBack?: unknown }; [field: string]: unknown };
}

export class Followed {
    /** The program can be run backwards. */
    isRecorded = false;
    /** The thread that stopped last. */
    thread: number | undefined;
    /** Is told the `seq` of each `dapple/who`, which `cancel` needs: the API of VS Code has no other way to it. */
    onSearch: ((seq: number) => void) | undefined;

    /** A message that goes to the adapter. */
    sent(message: Message): void {
        if (message.type === 'request' && message.command === 'dapple/who' && typeof message.seq === 'number') {
            this.onSearch?.(message.seq);
        }
    }

    /** A message that comes from the adapter. Returns whether `isRecorded` has changed. */
    received({ type, event, body }: Message): boolean {
        if (type !== 'event') {
            return false;
        }
        if (event === 'stopped' && typeof body?.threadId === 'number') {
            this.thread = body.threadId;
        }
        const supports = event === 'capabilities' ? body?.capabilities?.supportsStepBack : undefined;
        if (typeof supports !== 'boolean' || supports === this.isRecorded) {
            return false;
        }
        this.isRecorded = supports;
        return true;
    }
}
