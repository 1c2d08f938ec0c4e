;;; dap-mode.el --- A debugging session in Emacs's dap-mode  -*- lexical-binding: t; -*-

;; A person's session: a breakpoint, F5, looking around, steps, the end; what is asserted is what Emacs's buffers show then.
;; What it is told comes in the environment:
;;   DAPPLE_CONFIGURATION  the file with the text to paste from docs/editors/emacs.md
;;   DAPPLE_PROGRAM        what is debugged, and DAPPLE_SOURCE its source, with lines marked `// stop: NAME'
;;   DAPPLE_REPORT         where the last line says "passed", or what failed

;;; Code:

(require 'cl-lib)

(defvar session-log nil "What has happened, the last first.")

(defun session-note (format &rest arguments)
  "Note in the report what has happened: FORMAT with ARGUMENTS."
  (push (apply #'format format arguments) session-log)
  (write-region (concat (mapconcat #'identity (reverse session-log) "\n") "\n")
                nil (getenv "DAPPLE_REPORT") nil 'quiet))

(defun session-until (what condition)
  "Let Emacs work until CONDITION gives something, and return that; WHAT says what is waited for."
  (let ((end (+ (float-time) 20)) found)
    (while (not (setq found (funcall condition)))
      (when (> (float-time) end)
        (error "%s did not come about" what))
      (sit-for 0.02))
    (session-note "%s" what)
    found))

(defun session-text (buffer)
  "The text of BUFFER, if there is one."
  (when (get-buffer buffer)
    (with-current-buffer buffer
      (buffer-substring-no-properties (point-min) (point-max)))))

(defun session-line (mark)
  "The line of the source that is marked MARK."
  (with-current-buffer (find-file-noselect (getenv "DAPPLE_SOURCE"))
    (save-excursion
      (goto-char (point-min))
      (re-search-forward (concat "// stop: " mark "$"))
      (line-number-at-pos))))

(defun session-stopped-at (line)
  "Wait until the debugger shows LINE: point is there, in the source."
  (session-until
   (format "the stop at line %d" line)
   (lambda ()
     (with-current-buffer (window-buffer (selected-window))
       (and (dap--debug-session-active-frame (dap--cur-session))
            (equal buffer-file-name (getenv "DAPPLE_SOURCE"))
            (= (line-number-at-pos) line))))))

(defun session-shows (buffer &rest texts)
  "Wait until BUFFER shows all of TEXTS."
  (condition-case failure
      (session-until
       (format "%s in %s" texts buffer)
       (lambda ()
         (let ((shown (session-text buffer)))
           (and shown (cl-every (lambda (text) (string-search text shown)) texts)))))
    (error (error "%s; it shows:\n%s" (cadr failure) (session-text buffer)))))

(defun session-evaluates (expression expected)
  "What `dap-eval' shows of EXPRESSION beside the cursor has to hold EXPECTED."
  (let (shown)
    (cl-letf* ((original (symbol-function 'dap-overlays--display-interactive-eval-result))
               ((symbol-function 'dap-overlays--display-interactive-eval-result)
                (lambda (value &rest more) (setq shown value) (apply original value more))))
      (dap-eval expression)
      (session-until (format "the value of %s" expression) (lambda () shown)))
    (unless (string-search expected shown)
      (error "%s is %s, not %s" expression shown expected))))

(defun session-template (name)
  "A copy of the configuration NAME that users choose."
  (copy-tree (or (cdr (assoc name dap-debug-template-configurations))
                 (error "There is no configuration %s" name))))

(defun session-run ()
  "The session."
  (package-initialize)
  (setq dap-auto-show-output nil
        dap-breakpoints-file (make-temp-name (expand-file-name "breakpoints-" temporary-file-directory))
        lsp-session-file (make-temp-name (expand-file-name "lsp-session-" temporary-file-directory))
        lsp-treemacs-detailed-outline nil)
  (load (getenv "DAPPLE_CONFIGURATION") nil t)
  (session-note "the configuration is loaded")
  (find-file (getenv "DAPPLE_SOURCE"))
  (goto-char (point-min))
  (forward-line (1- (session-line "order")))
  (dap-breakpoint-add)
  (dap-debug (plist-put (session-template "Dapple: program") :program (getenv "DAPPLE_PROGRAM")))
  (session-stopped-at (session-line "order"))
  (let ((adapter (dap--debug-session-proc (dap--cur-session))))
    (dap-ui-locals)
    (session-shows dap-ui--locals-buffer "customer: \"Ada\"" "discount: Some(10)" "items: len = 2 [Item {" "Cash { given: 1000 }")
    (session-evaluates "items[1].cents + 1" "321")
    (session-evaluates "items.len() == 2" "true")
    (dap-step-in (dap--cur-session))
    (session-stopped-at (- (session-line "sum") 2))
    (session-shows dap-ui--locals-buffer "items")
    (dap-next (dap--cur-session))
    (session-stopped-at (1- (session-line "sum")))
    (dap-step-out (dap--cur-session))
    (session-until "the stop in main"
                   (lambda ()
                     (let ((frame (dap--debug-session-active-frame (dap--cur-session))))
                       (and frame (string-search "main" (gethash "name" frame))))))
    (dap-ui-sessions)
    ;; The next time around.
    (call-interactively #'dap-continue)
    (session-stopped-at (session-line "order"))
    (session-shows dap-ui--locals-buffer "customer: \"Grace\"")
    (dap-breakpoint-delete-all)
    (call-interactively #'dap-continue)
    (session-shows (dap--debug-session-output-buffer (dap--cur-session))
                   "Ada: tea for 513" "3 orders served")
    (session-until "the end of the session"
                   (lambda () (eq (dap--debug-session-state (dap--cur-session)) 'terminated)))
    (session-until "the end of the adapter" (lambda () (not (process-live-p adapter))))))

(defun session-main ()
  "Run the session, write what came of it, and leave Emacs."
  (condition-case failure
      (progn (session-run) (session-note "passed"))
    (error (session-note "failed: %s\n%s" (error-message-string failure) (or (session-text "*Messages*") ""))))
  (setq kill-emacs-hook nil)
  (kill-emacs))

(run-at-time 0.1 nil #'session-main)
;;; dap-mode.el ends here
