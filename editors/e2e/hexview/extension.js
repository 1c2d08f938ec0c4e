// Opens what VS Code has for a hex editor to read, a program's memory, and tells its first bytes.
const vscode = require('vscode');

exports.activate = (context) => {
    const provider = {
        async openCustomDocument(uri) {
            const bytes = await vscode.workspace.fs.readFile(uri.with({ query: 'range=0:4' }));
            const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
            vscode.window.showInformationMessage(`${uri.scheme}: ${hex}`);
            return { uri, dispose() {} };
        },
        resolveCustomEditor(_, panel) {
            panel.webview.html = '<p>memory</p>';
        },
    };
    context.subscriptions.push(vscode.window.registerCustomEditorProvider('hexEditor.hexedit', provider));
};
