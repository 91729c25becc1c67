;; Drives the server from Emacs's own JSON-RPC library: a command, a query, an error, a notification, an ordered end.
(require 'jsonrpc)
(let* ((heard nil)
       (connection
        (jsonrpc-process-connection
         :name "geomodel"
         :process (lambda () (make-process :name "geomodel" :command (list (getenv "GEOMODEL_SERVER"))
                                           :connection-type 'pipe :noquery t
                                           :stderr (get-buffer-create "*geomodel stderr*")))
         :notification-dispatcher (lambda (_ method params) (push (list method params) heard)))))
  (jsonrpc-request connection :initialize `(:processId ,(emacs-pid)))
  (jsonrpc-notify connection :initialized nil)
  (jsonrpc-request connection :map/create '(:id "m1" :title "Zürich"))
  (jsonrpc-request connection :view/create '(:id "v1" :map "m1"))
  (jsonrpc-request connection :state/observe '(:paths ["/views/v1/viewpoint"]))
  (jsonrpc-request connection :view/setViewpoint '(:view "v1" :viewpoint (:type "scale" :targetScale 25000)))
  (princ (format "title %s\n" (plist-get (jsonrpc-request connection :map/get '(:map "m1")) :title)))
  (condition-case failure
      (jsonrpc-request connection :map/get '(:map "none"))
    (jsonrpc-error (princ (format "error %s\n" (alist-get 'jsonrpc-error-code (cdr failure))))))
  ;; Emacs 28 leaves a notification that was read together with a reply until more output comes.
  (while (not heard) (jsonrpc-request connection :session/echo '(:value 1)))
  (princ (format "heard %s\n" (car (car heard))))
  (jsonrpc-request connection :shutdown nil)
  (jsonrpc-notify connection :exit nil)
  (let ((process (jsonrpc--process connection)))
    (while (process-live-p process) (accept-process-output process 0.05))
    (princ (format "exit %d\n" (process-exit-status process)))))
